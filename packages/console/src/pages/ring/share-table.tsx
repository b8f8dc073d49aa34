import type { ShardNode } from '../../../../idsmith/src/shard/config.js';
import { digits, percent } from '../../lib/format.js';
import type { NodeShare } from '../../lib/ring.js';
import { KEYS } from '../../lib/ring.js';
import { Meter } from '../../ui/panel.js';
import { sliceOf } from './ring-chart.js';

interface Props {
  readonly nodes: readonly ShardNode[];
  readonly shares: readonly NodeShare[];
}

/** Each node's share of the keys, beside the share that its weight would have it have. */
export function ShareTable({ nodes, shares }: Props) {
  const total = shares.reduce((sum, { weight }) => sum + weight, 0);
  const ids = new Map(nodes.map(({ name, id }) => [name, id]));
  return (
    <div>
      <div class="table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col" class="end">
                Weight
              </th>
              <th scope="col" class="end">
                Points
              </th>
              <th scope="col">Keys</th>
              <th scope="col" class="end">
                By weight
              </th>
            </tr>
          </thead>
          <tbody>
            {shares.map(({ name, weight, points, share }, i) => (
              <tr key={name}>
                <th scope="row" data-label="Node" class="node-name">
                  <span class={`swatch ${sliceOf(i)}`} aria-hidden="true" /> <span class="mono">{name}</span>{' '}
                  <span class="muted">{ids.get(name)}</span>
                </th>
                <td data-label="Weight" class="end mono">
                  {digits(weight)}
                </td>
                <td data-label="Points" class="end mono">
                  {digits(points)}
                </td>
                <td data-label="Keys">
                  <div class="used">
                    <Meter share={share} label={`${percent(share)} of the keys`} />
                    <span class="mono share">{percent(share)}</span>
                  </div>
                </td>
                <td data-label="By weight" class="end mono muted">
                  {percent(weight / total)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note">Counted over {digits(KEYS)} keys, so right to about 0.1 percentage points.</p>
    </div>
  );
}
