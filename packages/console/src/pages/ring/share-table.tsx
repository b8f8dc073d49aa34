import type { ShardNode } from '@idsmith/shard/ring';
import { digits, percent } from '../../lib/format.js';
import { type NodeShare, SAMPLE_KEYS } from '../../lib/ring-shares.js';
import { Meter } from '../../ui/meter.js';
import { Name } from '../../ui/name.js';
import { TableHead } from '../../ui/table-head.js';
import styles from './ring.module.css';
import { nodeColour } from './ring-chart.js';

interface Props {
  readonly nodes: readonly ShardNode[];
  readonly shares: readonly NodeShare[];
}

/** The share of the keys on each node, beside the share that its weight asks for. */
export function ShareTable({ nodes, shares }: Props) {
  const total = shares.reduce((sum, { weight }) => sum + weight, 0);
  const names = new Map(nodes.map(({ name, ringName }) => [ringName, name]));
  return (
    <div>
      <div class="table-frame">
        <table class={styles.shareTable}>
          <TableHead columns={['Node', ['Weight', 'end'], ['Points', 'end'], 'Keys', ['By weight', 'end']]} />
          <tbody>
            {shares.map(({ ringName, weight, points, share }, i) => (
              <tr key={ringName}>
                <th scope="row" data-label="Node" class={styles.node}>
                  <span class={`swatch ${nodeColour(i)}`} aria-hidden="true" />{' '}
                  <span class="mono">
                    <Name text={ringName} />
                  </span>{' '}
                  <span class="muted">
                    <Name text={names.get(ringName) ?? ''} />
                  </span>
                </th>
                <td data-label="Weight" class="end mono">
                  {digits(weight)}
                </td>
                <td data-label="Points" class="end mono">
                  {digits(points)}
                </td>
                <td data-label="Keys">
                  <ShareBar share={share} of="the keys" />
                </td>
                <td data-label="By weight" class="end mono muted">
                  {percent(weight / total)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note">
        Measured with {digits(SAMPLE_KEYS)} sample keys; accurate to about 0.1 percentage points.
      </p>
    </div>
  );
}

/** A share of the keys, as a bar and as a number. */
export function ShareBar({ share, of }: { share: number; of: string }) {
  return (
    <div class={styles.bar}>
      <Meter share={share} label={`${percent(share)} of ${of}`} />
      <span class={`mono ${styles.share}`}>{percent(share)}</span>
    </div>
  );
}
