import { utc } from '../../lib/format.js';
import { type NodeView, oddityOf } from '../../lib/lease-state.js';
import { Name } from '../../ui/name.js';
import styles from './leases.module.css';

const SENTENCES = {
  free: 'No process holds it. A lease can start at once.',
  held: 'The holder may use times before the fence in ids.',
  expired: 'The holder did not renew its lease. The next window starts at the fence.',
  fenced: 'No process holds it, but the next window cannot start before the fence.',
  odd: 'Its record makes no sense:',
};

const TEXTS: Readonly<Record<string, string>> = { fenced: 'fenced ahead', odd: 'not readable' };

/** The details of one node id. */
export function NodeDetail({ view, isStale }: { view: NodeView; isStale: boolean }) {
  const { id, state, record, left } = view;
  return (
    <div class={styles.detail}>
      {isStale ? (
        <p>
          The state of <strong>node {id}</strong> is <strong>unknown</strong>. It was {TEXTS[state] ?? state}{' '}
          when the server last answered.
        </p>
      ) : (
        <p>
          <strong>Node {id}</strong> is <strong>{TEXTS[state] ?? state}</strong>
          {left > 0 && ` for ${Math.ceil(left)} s more`}. <span class="muted">{SENTENCES[state]}</span>
        </p>
      )}
      {record === undefined ? (
        <p class="muted">This node id has never been used.</p>
      ) : state === 'odd' ? (
        <p class="warn-text">{oddityOf(record)}.</p>
      ) : (
        <dl class="fields">
          <div>
            <dt>holder</dt>
            <dd>{record.owner === null ? '—' : record.label ? <Name text={record.label} /> : 'no label'}</dd>
          </div>
          <div>
            <dt>holders so far</dt>
            <dd class="mono">{record.epoch}</dd>
          </div>
          <div>
            <dt>fence</dt>
            <dd class="mono">{utc(record.fence)} UTC</dd>
          </div>
        </dl>
      )}
    </div>
  );
}
