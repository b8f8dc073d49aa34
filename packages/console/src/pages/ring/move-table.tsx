import { useMemo } from 'preact/hooks';
import { percent } from '../../lib/format.js';
import { movesBetween, type SampleOwners } from '../../lib/ring-shares.js';
import { Name } from '../../ui/name.js';
import { TableHead } from '../../ui/table-head.js';
import styles from './ring.module.css';
import { ShareBar } from './share-table.js';

interface Props {
  /** The node that is added, removed or changed. */
  readonly name: string;
  readonly isNew: boolean;
  readonly before: SampleOwners;
  readonly after: SampleOwners;
}

/** The keys that move when a node is added, removed or gets another weight. */
export function MoveTable({ name, isNew, before, after }: Props) {
  const moves = useMemo(() => movesBetween(before, after), [before, after]);
  const moved = moves.reduce((sum, { share }) => sum + share, 0);
  const aside = moves
    .filter(({ from, to }) => from !== name && to !== name)
    .reduce((sum, { share }) => sum + share, 0);
  const share = after.nodes.find((node) => node.ringName === name)?.share ?? 0;
  return (
    <div class={styles.moves}>
      <p role="status">
        <strong class="mono">{percent(moved)}</strong> of the keys would move.{' '}
        <span class="mono">
          <Name text={name} />
        </span>{' '}
        would own <strong class="mono">{percent(share)}</strong> of all keys.
        {aside > 0 &&
          ` ${percent(aside)} would move between other nodes, because the points of a node depend on the number of nodes.`}
      </p>
      <div class="table-frame">
        <table class={styles.moveTable}>
          <TableHead columns={['From', 'To', 'Share of all keys']} />
          <tbody>
            {moves.map((move) => (
              <tr key={`${move.from} ${move.to}`}>
                <td data-label="From" class="mono">
                  <Name text={move.from} />
                </td>
                <td data-label="To" class="mono">
                  <Name text={move.to} /> {isNew && move.to === name && <span class="badge">new</span>}
                </td>
                <td data-label="Share of all keys">
                  <ShareBar share={move.share} of="all keys" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
