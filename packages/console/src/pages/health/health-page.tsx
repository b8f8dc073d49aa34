import { api } from '../../api/routes.js';
import { duration, perSecond } from '../../lib/format.js';
import { pointsOf } from '../../lib/history-points.js';
import { hasRestarted, type MetricsSnapshot, type Point, pointBetween } from '../../lib/metrics-snapshot.js';
import { parseMetrics } from '../../lib/prometheus.js';
import { Chart } from '../../ui/chart.js';
import { Loading, RequestError } from '../../ui/feedback.js';
import { Page } from '../../ui/page.js';
import { usePolling } from '../../ui/use-polling.js';
import styles from './health.module.css';
import { ServerStats } from './server-stats.js';

const INTERVAL = 1000;

/** Charts of the activity of the server. */
export function HealthPage() {
  const { data, error, isStale } = usePolling(
    'metrics',
    async (signal) => {
      const samples = parseMetrics(await api.metrics(signal));
      // What was before this page was opened.
      if (last === undefined) points = pointsOf(await api.history('hour', signal)).slice(-PAST_POINTS);
      const snapshot = { at: Date.now(), samples };
      return { snapshot, points: recordSnapshot(snapshot) };
    },
    INTERVAL,
  );

  return (
    <Page
      title="Health"
      lead="The activity of the server in the last ten minutes. Requests of this page are not counted."
      isStale={isStale}
    >
      <RequestError error={error} />
      {data === undefined ? (
        error === undefined && <Loading what="the metrics" lines={6} />
      ) : (
        <>
          <ServerStats snapshot={data.snapshot} point={data.points.at(-1)} isStale={isStale} />
          <div class={styles.charts}>
            <Chart
              title="Ids per second"
              points={data.points}
              format={perSecond}
              series={[
                { label: 'flake', colour: 'kind-time', read: ({ minted }) => minted.flake ?? 0 },
                { label: 'locality', colour: 'kind-machine', read: ({ minted }) => minted.locality ?? 0 },
                { label: 'uuid7', colour: 'kind-random', read: ({ minted }) => minted.uuid7 ?? 0 },
                { label: 'sequence', colour: 'kind-counter', read: ({ minted }) => minted.sequence ?? 0 },
                { label: 'key', colour: 'kind-process', read: ({ minted }) => minted.key ?? 0 },
              ]}
            />
            <Chart
              title="Store latency"
              points={data.points}
              format={duration}
              series={[
                { label: 'median', colour: 'kind-time', read: ({ latency }) => latency.p50 },
                { label: '99th percentile', colour: 'kind-process', read: ({ latency }) => latency.p99 },
              ]}
            />
            <Chart
              title="Errors per second"
              points={data.points}
              format={perSecond}
              series={[
                {
                  label: 'requests refused (4xx)',
                  colour: 'kind-process',
                  read: ({ errors }) => errors.client,
                },
                { label: 'requests failed (5xx)', colour: 'bad', read: ({ errors }) => errors.server },
                { label: 'store operations', colour: 'kind-machine', read: ({ errors }) => errors.store },
              ]}
            />
            <Chart
              title="Requests per second"
              points={data.points}
              format={perSecond}
              series={[{ label: 'requests', colour: 'kind-time', read: ({ requests }) => requests }]}
            />
          </div>
        </>
      )}
    </Page>
  );
}

/** The number of points to keep: ten minutes. */
const MAX_POINTS = 600;

/** The number of points from before the page was opened: ten minutes in steps of five seconds. */
const PAST_POINTS = 120;

/** Snapshots further apart than this are not compared, ms. */
const MAX_GAP = 6000;

/** The history outlives the page, so that a user who comes back sees all of it. */
let last: MetricsSnapshot | undefined;
let points: readonly Point[] = [];

/** Adds a snapshot to the history, and returns all points. */
function recordSnapshot(snapshot: MetricsSnapshot): readonly Point[] {
  if (last !== undefined && snapshot.at - last.at < MAX_GAP && !hasRestarted(last, snapshot))
    points = [...points, pointBetween(last, snapshot)].slice(-MAX_POINTS);
  last = snapshot;
  return points;
}
