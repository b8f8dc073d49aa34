import { api } from '../../api/routes.js';
import type { ChangeJson } from '../../api/types.js';
import { utc } from '../../lib/format.js';
import { visibleText } from '../../lib/visible-text.js';
import { EmptyState, Loading, RequestError } from '../../ui/feedback.js';
import { Name } from '../../ui/name.js';
import { Page } from '../../ui/page.js';
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
      {data?.length === 0 && (
        <EmptyState title="Nothing was changed since the start of this server">
          <p>Whoever defines, alters or removes a sequence or a series is listed here, with the token.</p>
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && (
        <div class="panel flush">
          <div class="table-frame">
            <table class={styles.changesTable}>
              <caption class="visually-hidden">Changes</caption>
              <TableHead columns={['Time, UTC', 'Action', 'Of', 'Token', 'What changed']} />
              <tbody>
                {data.map((change) => (
                  <tr key={`${change.at} ${change.requestId}`}>
                    <td data-label="Time, UTC" class={`mono ${styles.time}`}>
                      <Moment at={change.at} />
                    </td>
                    <td data-label="Action">{change.action}</td>
                    <th scope="row" class={styles.subject}>
                      <Name text={change.subject} />
                    </th>
                    <td data-label="Token" class={styles.token} title={change.tokenId ?? undefined}>
                      {change.token ?? <span class="muted">none</span>}
                    </td>
                    <td data-label="What changed" class={styles.what}>
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

/** A day and a time, in two lines where there is no room for one. */
function Moment({ at }: { at: number }) {
  const [day, time] = utc(at).split(' ');
  return (
    <>
      <span>{day}</span> <span>{time}</span>
    </>
  );
}

/** The values of a sequence that nobody has chosen. */
const USUAL: Readonly<Record<string, string>> = {
  step: '1',
  min: '-9223372036854775808',
  max: '9223372036854775807',
  cycle: 'false',
  exhausted: 'false',
};

/** True for a value of a definition that tells nothing. */
function isUsual(name: string, value: unknown, all: ChangeJson['after']): boolean {
  return String(value) === (name === 'next' ? String(all?.start) : USUAL[name]);
}

/** The fields before and after. */
function Difference({ change: { before, after } }: { change: ChangeJson }) {
  const names = Object.entries(after ?? before ?? {})
    .filter(([name, value]) => (before && after) || !isUsual(name, value, after ?? before))
    .map(([name]) => name);
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
