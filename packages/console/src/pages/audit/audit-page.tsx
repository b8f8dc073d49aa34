import { api } from '../../api/routes.js';
import type { ChangeJson } from '../../api/types.js';
import { utc } from '../../lib/format.js';
import { visibleText } from '../../lib/visible-text.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loading } from '../../ui/loading.js';
import { Name } from '../../ui/name.js';
import { Page } from '../../ui/page.js';
import { RequestError } from '../../ui/request-error.js';
import { TableHead } from '../../ui/table-head.js';
import { usePolling } from '../../ui/use-polling.js';
import styles from './audit.module.css';

const INTERVAL = 5000;

/** The administrative changes on this server: who changed what, and when. */
export function AuditPage() {
  const { data, error, isStale } = usePolling('audit', api.audit, INTERVAL);
  return (
    <Page
      title="Audit"
      lead="The latest thousand changes that this server has made since its start. The log has all of them."
      isStale={isStale}
    >
      <RequestError error={error} />
      {data === undefined && error === undefined && <Loading what="the changes" lines={4} />}
      {data?.length === 0 && <EmptyState title="Nothing was changed since the start of this server" />}
      {data !== undefined && data.length > 0 && (
        <div class="panel flush">
          <div class="table-frame">
            <table>
              <caption class="visually-hidden">Changes</caption>
              <TableHead columns={['Time, UTC', 'Action', 'Of', 'Token', 'What changed']} />
              <tbody>
                {data.map((change) => (
                  <tr key={`${change.at} ${change.requestId}`}>
                    <td data-label="Time, UTC" class={`mono ${styles.time}`}>
                      {utc(change.at)}
                    </td>
                    <td data-label="Action">{change.action}</td>
                    <th scope="row" class={styles.subject}>
                      <Name text={change.subject} />
                    </th>
                    <td data-label="Token" title={change.tokenId ?? undefined}>
                      {change.token ?? <span class="muted">none</span>}
                    </td>
                    <td data-label="What changed">
                      <Difference change={change} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
    </Page>
  );
}

/** The fields before and after. */
function Difference({ change: { before, after } }: { change: ChangeJson }) {
  const names = Object.keys(after ?? before ?? {});
  const text = (value: unknown) => visibleText(value === null || value === undefined ? '—' : String(value));
  if (names.length === 0) return <span class="muted">nothing</span>;
  return (
    <span class={`mono ${styles.changes}`}>
      {names.map((name) => (
        <span key={name}>
          <span class="muted">{name}</span>{' '}
          {before && after ? `${text(before[name])} → ${text(after[name])}` : text((after ?? before)?.[name])}
        </span>
      ))}
    </span>
  );
}
