import type { ShardJson } from '../../api/types.js';
import { digits, duration } from '../../lib/format.js';
import type { SampleOwners } from '../../lib/ring-shares.js';
import { visibleText } from '../../lib/visible-text.js';
import { Name } from '../../ui/name.js';
import { TableHead } from '../../ui/table-head.js';
import styles from './ring.module.css';
import { nodeColour } from './ring-chart.js';
import { ShareBar } from './share-table.js';

/** A difference of clocks that an operator should look at, ms. The default of `maxSkew` is 1,000. */
const SKEW = 500;

const MINTING = {
  open: 'mints',
  idle: 'no key minted yet',
  reserved: 'minting is being handed over',
  closed: 'mints for another config',
  foreign: 'mints for another config',
} as const;

interface Props {
  readonly nodes: readonly ShardJson[];
  /** Missing for a Redis Cluster, which places keys itself. */
  readonly placement: SampleOwners | undefined;
}

/** The shards of the server: whether they answer, their clocks and their keys. */
export function ShardTable({ nodes, placement }: Props) {
  return (
    <div class="table-frame">
      <table>
        <caption class="visually-hidden">Shards</caption>
        <TableHead
          columns={[
            'Node',
            'State',
            ['Clock', 'end'],
            ['Redis keys', 'end'],
            ['Weight', `end ${styles.spare}`],
            ...(placement ? ['Share of keys'] : []),
          ]}
        />
        <tbody>
          {nodes.map((node) => {
            const at = placement?.nodes.findIndex(({ ringName }) => ringName === node.ringName) ?? -1;
            return (
              <tr key={node.ringName}>
                <th scope="row" class={styles.node}>
                  {placement && <span class={`swatch ${nodeColour(at)}`} aria-hidden="true" />}{' '}
                  <Name text={node.name} />{' '}
                  <span class="muted mono">
                    <Name text={node.address} />
                  </span>
                </th>
                <td data-label="State">
                  <State node={node} />
                </td>
                <td data-label="Clock" class={`end mono ${styles.clock}`}>
                  <Clock ahead={node.clockAhead} latency={node.latency ?? 0} />
                </td>
                <td data-label="Redis keys" class="end mono">
                  {node.keys === null ? '—' : digits(node.keys)}
                </td>
                <td data-label="Weight" class={`end mono ${styles.spare}`}>
                  {digits(node.weight)}
                </td>
                {placement && (
                  <td data-label="Share of keys">
                    <ShareBar share={placement.nodes[at]?.share ?? 0} of="the keys" />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function State({ node: { error, latency, minting } }: { node: ShardJson }) {
  if (error !== null)
    return (
      <span title={visibleText(error)}>
        <span class="badge bad">no answer</span>
      </span>
    );
  const isElsewhere = minting === 'closed' || minting === 'foreign';
  return (
    <>
      <span class={isElsewhere ? 'badge bad' : 'badge'}>{MINTING[minting ?? 'idle']}</span>{' '}
      <span class={`muted ${styles.spare} ${styles.clock}`}>
        {latency !== null && duration(latency / 1000)}
      </span>
    </>
  );
}

/** The clock is known to half the time that the answer took. */
function Clock({ ahead, latency }: { ahead: number | null; latency: number }) {
  const isFarOff = ahead !== null && Math.abs(ahead) - latency / 2 > SKEW;
  return (
    <span class={isFarOff ? 'badge bad' : undefined}>
      {ahead === null ? '—' : `${ahead > 0 ? '+' : ''}${digits(ahead)} ms`}
    </span>
  );
}
