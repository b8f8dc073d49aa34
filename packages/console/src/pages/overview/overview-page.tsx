import { api } from '../../api/routes.js';
import type { HistoryJson, NamespaceJson, SequenceJson, ServerJson } from '../../api/types.js';
import { digits, duration, percent, perSecond, relative, span } from '../../lib/format.js';
import { rateNow, ratesOf, valueNow } from '../../lib/history-points.js';
import { parseMetrics } from '../../lib/prometheus.js';
import { idsLeft } from '../../lib/sequence-usage.js';
import { type Warning, warningsOf } from '../../lib/warnings.js';
import { hrefOf } from '../../router.js';
import { EmptyState, Loading, RequestError } from '../../ui/feedback.js';
import { Icon } from '../../ui/icon.js';
import { Meter } from '../../ui/meter.js';
import { Breakable, Name } from '../../ui/name.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { Sparkline } from '../../ui/sparkline.js';
import { Stat, Stats } from '../../ui/stat.js';
import { TableHead } from '../../ui/table-head.js';
import { usePolling } from '../../ui/use-polling.js';

const INTERVAL = 5000;

/** The rows of a table. */
const ROWS = 8;

/** Requests that were refused for one reason on one route. */
interface Refusals {
  readonly code: string;
  readonly route: string;
  readonly count: number;
}

interface Overview {
  readonly server: ServerJson;
  readonly history: HistoryJson;
  readonly sequences: readonly SequenceJson[];
  readonly total: number;
  readonly namespaces: readonly NamespaceJson[];
  readonly refusals: readonly Refusals[];
}

async function load(signal: AbortSignal): Promise<Overview> {
  const [server, history, page, namespaces, metrics] = await Promise.all([
    api.server(signal),
    api.history('hour', signal),
    api.sequences({ sort: 'runOut', limit: ROWS }, signal),
    // A store of somebody's own may not list them.
    api.namespaces(signal).catch(() => []),
    api.metrics(signal),
  ]);
  return {
    server,
    history,
    sequences: page.sequences,
    total: page.total,
    namespaces,
    refusals: refusalsIn(metrics),
  };
}

function refusalsIn(metrics: string): Refusals[] {
  return parseMetrics(metrics)
    .filter(({ name }) => name === 'idsmith_refusals_total')
    .map(({ labels, value }) => ({
      code: labels.code ?? '',
      route: `${labels.method ?? ''} ${labels.path ?? ''}`,
      count: value,
    }))
    .sort((a, b) => b.count - a.count)
    .slice(0, ROWS);
}

/** What is refused, what runs out next, and how the server is, at a glance. */
export function OverviewPage() {
  const { data, error, isStale } = usePolling('overview', load, INTERVAL);
  return (
    <Page title="Overview" lead="What is minted, what is refused, and what runs out next." isStale={isStale}>
      <RequestError error={error} />
      {data === undefined ? (
        error === undefined && <Loading what="the overview" lines={8} />
      ) : (
        <>
          <Warnings warnings={warningsOf(data, Date.now())} />
          <Numbers data={data} isStale={isStale} />
          <div class="columns">
            <Families history={data.history} />
            <EndingSequences sequences={data.sequences} total={data.total} />
            <NodeIds namespaces={data.namespaces} />
            <RefusalTable refusals={data.refusals} />
          </div>
        </>
      )}
    </Page>
  );
}

function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul class="warnings" aria-label="Warnings">
      {warnings.map(({ isUrgent, what, action, page, rest }) => (
        <li key={what} class={`warning${isUrgent ? ' bad' : ''}`}>
          <Icon name="warning" />
          <strong>{what}</strong>
          <span>
            {action} <a href={hrefOf(page, rest)}>Look</a>
          </span>
        </li>
      ))}
    </ul>
  );
}

const FAMILIES = ['flake', 'locality', 'uuid7', 'sequence', 'key'] as const;

function Numbers({ data: { server, history }, isStale }: { data: Overview; isStale: boolean }) {
  const rate = (name: string) => rateNow(history, name);
  const minted = FAMILIES.map(rate).filter((value) => value !== undefined);
  const latency = valueNow(history, 'storeSeconds');
  const [active, all] = [
    server.leases.filter(({ state }) => state === 'active').length,
    server.leases.length,
  ];
  const shown = (value: number | undefined) => (value === undefined ? '…' : perSecond(value));
  return (
    <Stats>
      <Stat label="State">
        {isStale ? (
          'unknown'
        ) : (
          <span class={server.ready ? 'bad-text' : 'good-text'}>{server.ready ? 'not ready' : 'ready'}</span>
        )}
      </Stat>
      <Stat label="Ids per second" note="last 30 s">
        {minted.length === 0 ? '…' : perSecond(minted.reduce((sum, value) => sum + value, 0))}
      </Stat>
      <Stat label="Requests per second" note="without this page and probes">
        {shown(rate('requests'))}
      </Stat>
      <Stat label="Refused per second">
        <span class={(rate('refusals') ?? 0) > 0 ? 'warn-text' : undefined}>{shown(rate('refusals'))}</span>
      </Stat>
      <Stat label="Store latency" note="mean">
        {latency === undefined ? '—' : duration(latency)}
      </Stat>
      <Stat label="Leases" note="active">
        {isStale ? (
          'unknown'
        ) : (
          <span class={active < all ? 'bad-text' : undefined}>
            {active} of {all}
          </span>
        )}
      </Stat>
      <Stat label="Store" note={server.durable ? 'keeps every acknowledged write' : 'can lose its data'}>
        {server.durable ? 'durable' : 'can forget'}
      </Stat>
      <Stat
        label="Version"
        note={server.started === undefined ? '' : `up for ${span(Date.now() - server.started)}`}
      >
        {server.version}
      </Stat>
    </Stats>
  );
}

function Families({ history }: { history: HistoryJson }) {
  const points = ratesOf(history);
  return (
    <Panel title="Ids per second, last hour" class="flush">
      <table>
        <TableHead class="visually-hidden" columns={['Family', 'Last hour', 'Now']} />
        <tbody>
          {FAMILIES.map((family) => {
            const now = rateNow(history, family) ?? 0;
            return (
              <tr key={family}>
                <th scope="row">{family}</th>
                <td>
                  <Sparkline
                    values={points.map(({ values }) => values[family] ?? null)}
                    label={`${family}, last hour`}
                  />
                </td>
                <td class="end mono">{perSecond(now)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Panel>
  );
}

function EndingSequences({ sequences, total }: { sequences: readonly SequenceJson[]; total: number }) {
  return (
    <Panel
      title="Sequences that run out next"
      class="flush"
      actions={<a href={hrefOf('sequences', '', { sort: 'runOut' })}>All {digits(total)}</a>}
    >
      {sequences.length === 0 ? (
        <EmptyState title="No sequence is defined">
          <a href={hrefOf('sequences')}>Define the first one</a>
        </EmptyState>
      ) : (
        <table class="stacked">
          <TableHead class="visually-hidden" columns={['Name', 'Ids left', 'Runs out']} />
          <tbody>
            {sequences.map((sequence) => (
              <tr key={sequence.name}>
                <th scope="row">
                  <a href={hrefOf('sequences', sequence.name)}>
                    <Name text={sequence.name} />
                  </a>
                </th>
                <td class="end mono">
                  {idsLeft(sequence)}
                  {sequence.remaining != null && ' left'}
                </td>
                <td class="end">
                  <RunsOut sequence={sequence} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function RunsOut({ sequence: { exhausted, forecast } }: { sequence: SequenceJson }) {
  if (exhausted) return <span class="badge bad">exhausted</span>;
  const seconds = forecast?.seconds ?? null;
  if (seconds === null) return <span class="muted">not in use</span>;
  const isSoon = seconds < 30 * 86_400;
  return (
    <span class={isSoon ? 'warn-text' : 'muted'} title={`confidence: ${forecast?.confidence}`}>
      {relative(seconds * 1000, 0)}
    </span>
  );
}

function NodeIds({ namespaces }: { namespaces: readonly NamespaceJson[] }) {
  const share = ({ held, size }: NamespaceJson) => (size === null ? 0 : held / size);
  const shown = [...namespaces].sort((a, b) => share(b) - share(a)).slice(0, ROWS);
  return (
    <Panel title="Node ids in use" class="flush" actions={<a href={hrefOf('leases')}>Leases</a>}>
      {shown.length === 0 ? (
        <EmptyState title="No node id was ever used">
          <p>A process that mints flakes or UUIDs leases one when it starts.</p>
        </EmptyState>
      ) : (
        <table>
          <TableHead class="visually-hidden" columns={['Namespace', 'Share', 'Held']} />
          <tbody>
            {shown.map((namespace) => {
              const part = share(namespace);
              return (
                <tr key={namespace.namespace}>
                  <th scope="row">
                    <a href={hrefOf('leases', namespace.namespace)}>
                      <Name text={namespace.namespace} />
                    </a>
                  </th>
                  <td>
                    <Meter share={part} label={`${percent(part)} held`} tone={part > 0.8 ? 'bad' : ''} />
                  </td>
                  <td class="end mono">
                    {digits(namespace.held)}
                    {namespace.size !== null && ` of ${digits(namespace.size)}`}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function RefusalTable({ refusals }: { refusals: readonly Refusals[] }) {
  return (
    <Panel title="Refused since the start, by code and route" class="flush">
      {refusals.length === 0 ? (
        <EmptyState title="Nothing was refused">
          <p>Requests that this server refuses are counted here, with the reason.</p>
        </EmptyState>
      ) : (
        <table class="codes">
          <TableHead class="visually-hidden" columns={['Code', 'Route', 'Requests']} />
          <tbody>
            {refusals.map(({ code, route, count }) => (
              <tr key={`${code} ${route}`}>
                <th scope="row" class="mono">
                  <Breakable text={code} after="_" />
                </th>
                <td class="mono muted">{route}</td>
                <td class="end mono">{digits(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
