import { utc } from '../../lib/format.js';
import type { NodeView } from '../../lib/lease-state.js';
import styles from './node-detail.module.css';

const SENTENCES = {
  free: 'Nobody holds it, and it can be taken at once.',
  held: 'Its holder may put times before the fence into ids.',
  expired: 'Its holder has not renewed it. The next one begins at the fence.',
  fenced: 'Nobody holds it, but its next window cannot begin before the fence.',
};

/** All that is known of one node id. */
export function NodeDetail({ view: { id, state, record, left } }: { view: NodeView }) {
  return (
    <div class={styles.detail}>
      <p>
        <strong>Node {id}</strong> is <strong>{state === 'fenced' ? 'fenced ahead' : state}</strong>
        {left > 0 && ` for ${Math.ceil(left)} s more`}. <span class="muted">{SENTENCES[state]}</span>
      </p>
      {record === undefined ? (
        <p class="muted">It has never been used.</p>
      ) : (
        <dl class="fields">
          <div>
            <dt>holder</dt>
            <dd>{record.owner === null ? '—' : record.label || 'without a label'}</dd>
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
