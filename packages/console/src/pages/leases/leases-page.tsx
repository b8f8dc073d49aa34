import { useState } from 'preact/hooks';
import { ApiError } from '../../api/errors.js';
import { api } from '../../api/routes.js';
import { fieldErrorsOf } from '../../lib/field-errors.js';
import { countStates, guessSize } from '../../lib/lease-state.js';
import { shortName } from '../../lib/visible-text.js';
import { Loading } from '../../ui/loading.js';
import { Notice } from '../../ui/notice.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { RequestError } from '../../ui/request-error.js';
import { usePolling } from '../../ui/use-polling.js';
import { LeaseGrid } from './lease-grid.js';
import { LeaseTable } from './lease-table.js';
import { NamespaceForm } from './namespace-form.js';
import { StateLegend } from './state-legend.js';
import { Timeline } from './timeline.js';
import { recordWindows } from './window-history.js';

const INTERVAL = 1000;

/** The node ids of a namespace and their holders. */
export function LeasesPage({ rest }: { rest: string }) {
  const server = usePolling('server', api.server, 10_000);
  const [wanted, setWanted] = useState<{ namespace: string; size: number | undefined }>();
  const known = [...new Set(server.data?.leases.map(({ namespace }) => namespace))];
  const namespace = rest || known[0] || '';
  const { data, error, isStale } = usePolling(
    namespace,
    async (signal) => {
      if (namespace === '') return undefined;
      const answer = await api.leases(namespace, signal);
      const records = [...answer.leases, ...answer.own];
      return { ...answer, records, history: recordWindows(answer) };
    },
    INTERVAL,
  );

  const isOfFlakes = server.data?.leases.some(
    (each) => each.family === 'flake' && each.namespace === namespace,
  );
  const layout = isOfFlakes ? server.data?.layout : undefined;
  const wantedSize = wanted?.namespace === namespace ? wanted.size : undefined;
  const size = wantedSize ?? (data && guessSize(namespace, layout, data.leases)) ?? 0;
  const isInvalidName = error instanceof ApiError && error.status === 422;

  return (
    <Page
      title="Leases"
      lead="Node ids and the windows of time in which their holders may mint."
      isStale={isStale}
    >
      <NamespaceForm
        key={namespace}
        namespace={namespace}
        known={known}
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
          {!data.durable && (
            <Notice look="info">
              This store can lose its data. In an empty namespace, the first windows start late enough that no
              earlier holder can still be minting.
            </Notice>
          )}
          <Panel
            title={`Node ids of ${shortName(namespace)}`}
            actions={<StateLegend counts={countStates(data.records, data.now, size)} />}
          >
            <LeaseGrid key={namespace} records={data.records} now={data.now} size={size} />
          </Panel>
          <Panel title="Windows">
            <Timeline history={data.history} now={data.now} />
          </Panel>
          <Panel title="Holders, past and present" class="flush">
            <LeaseTable records={data.records} now={data.now} />
          </Panel>
        </>
      )}
    </Page>
  );
}
