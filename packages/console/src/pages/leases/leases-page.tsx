import { useState } from 'preact/hooks';
import { ApiError } from '../../api/errors.js';
import { api } from '../../api/routes.js';
import type { LeasesJson } from '../../api/types.js';
import { fieldErrorsOf } from '../../lib/field-errors.js';
import { digits, span } from '../../lib/format.js';
import { countStates, guessSize } from '../../lib/lease-state.js';
import { type History, withWindows } from '../../lib/lease-windows.js';
import { shortName } from '../../lib/visible-text.js';
import { Loading, Notice, RequestError } from '../../ui/feedback.js';
import { useNow } from '../../ui/hooks.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { usePolling } from '../../ui/use-polling.js';
import { LeaseGrid } from './lease-grid.js';
import { LeaseTable } from './lease-table.js';
import { NamespaceForm } from './namespace-form.js';
import { NamespaceTable } from './namespace-table.js';
import { StateLegend } from './state-legend.js';
import { TermTable } from './term-table.js';
import { Timeline } from './timeline.js';

const INTERVAL = 1000;

/** The node ids of a namespace and their holders. */
export function LeasesPage({ rest }: { rest: string }) {
  const server = usePolling('server', api.server, 10_000);
  const [wanted, setWanted] = useState<{ namespace: string; size: number | undefined }>();
  const namespaces = usePolling('namespaces', api.namespaces, 10_000);
  const known = [...new Set(server.data?.leases.map(({ namespace }) => namespace))];
  const namespace = rest || known[0] || '';
  const { data, error, isStale } = usePolling(
    namespace,
    async (signal) => {
      if (namespace === '') return undefined;
      const answer = await api.leases(namespace, signal);
      const records = [...answer.leases, ...answer.own];
      return { ...answer, records, history: recordWindows(answer), receivedAt: Date.now() };
    },
    INTERVAL,
  );

  const terms = usePolling(
    `terms ${namespace}`,
    async (signal) => (namespace === '' ? [] : api.terms(namespace, undefined, signal)),
    5000,
  );
  const isOfFlakes = server.data?.leases.some(
    (each) => each.family === 'flake' && each.namespace === namespace,
  );
  const layout = isOfFlakes ? server.data?.layout : undefined;
  const wantedSize = wanted?.namespace === namespace ? wanted.size : undefined;
  const lowest = data?.nodes?.[0] ?? 0;
  const end = data?.size ?? (data && guessSize(namespace, layout, data.leases)) ?? 0;
  const size = wantedSize ?? end - lowest;
  const isInvalidName = error instanceof ApiError && error.status === 422;

  return (
    <Page
      title="Leases"
      lead="Node ids and the windows of time in which their holders may mint."
      isStale={isStale}
    >
      {namespaces.data !== undefined && namespaces.data.length > 0 && (
        <NamespaceTable namespaces={namespaces.data} current={namespace} />
      )}
      <NamespaceForm
        key={namespace}
        namespace={namespace}
        known={namespaces.data?.map((each) => each.namespace) ?? known}
        size={size}
        error={isInvalidName ? fieldErrorsOf(error, [])[''] : undefined}
        onShow={(name, count) => setWanted({ namespace: name, size: count })}
      />
      {!isInvalidName && <RequestError error={error ?? (namespace === '' ? server.error : undefined)} />}
      {data === undefined && error === undefined && server.error === undefined && (
        <Loading what="the leases" lines={5} />
      )}
      {data !== undefined && (
        <>
          {isStale && <StaleNotice since={data.receivedAt} />}
          {!data.durable && (
            <Notice look="info">
              This store can lose its data. In an empty namespace, the first windows start late enough that no
              earlier holder can still be minting.
            </Notice>
          )}
          <Panel
            title={`Node ids of ${shortName(namespace)}${data.nodes ? `: ${data.nodes.map(digits).join(' – ')}` : ''}`}
            actions={<StateLegend counts={countStates(data.records, data.now, size, lowest)} />}
          >
            <LeaseGrid
              key={`${namespace} ${lowest}`}
              records={data.records}
              now={data.now}
              lowest={lowest}
              size={size}
              isStale={isStale}
            />
          </Panel>
          <Panel title="Windows">
            <Timeline history={data.history} now={data.now} terms={terms.data ?? []} />
          </Panel>
          <Panel title="Holders now" class="flush">
            <LeaseTable records={data.records} now={data.now} isStale={isStale} />
          </Panel>
          <TermTable terms={terms.data ?? []} />
        </>
      )}
    </Page>
  );
}

/** How old the data is, while nobody knows better. */
function StaleNotice({ since }: { since: number }) {
  const now = useNow();
  return (
    <Notice>
      These leases are {span(now - since)} old: the server does not answer. Nobody knows who holds them now.
    </Notice>
  );
}

/** The history of each namespace. It outlives the page, so that a user who comes back sees all of it. */
const histories = new Map<string, History>();

/** Adds the windows of a response to the history of its namespace, and returns the history. */
function recordWindows({ namespace, leases, now }: LeasesJson): History {
  const history = withWindows(histories.get(namespace), leases, now);
  histories.set(namespace, history);
  return history;
}
