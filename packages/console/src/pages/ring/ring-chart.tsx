import { percent } from '../../lib/format.js';
import type { NodeShare } from '../../lib/ring-shares.js';
import styles from './ring.module.css';

const RADIUS = 70;

/** The shares of all nodes as a ring. */
export function RingChart({ shares }: { shares: readonly NodeShare[] }) {
  let at = 0;
  return (
    <svg
      class={styles.chart}
      viewBox="-90 -90 180 180"
      role="img"
      aria-label={`Shares of the keys: ${shares.map(({ ringName, share }) => `${ringName} ${percent(share)}`).join(', ')}`}
    >
      {shares.map(({ ringName, share }, i) => {
        const start = at;
        at += share;
        return share === 0 ? null : (
          <path key={ringName} class={nodeColour(i)} d={arc(start, at)}>
            <title>{`${ringName} ${percent(share)}`}</title>
          </path>
        );
      })}
      <text class={styles.count} y="2">
        {shares.length}
      </text>
      <text class={styles.unit} y="18">
        {shares.length === 1 ? 'node' : 'nodes'}
      </text>
    </svg>
  );
}

/** An arc of the circle. `from` and `to` run from 0 to 1, clockwise from the top. */
function arc(from: number, to: number): string {
  // An arc that ends at its start would be empty.
  const end = Math.min(to, from + 0.99999);
  const point = (share: number) => {
    const angle = (share - 0.25) * 2 * Math.PI;
    return `${(RADIUS * Math.cos(angle)).toFixed(2)} ${(RADIUS * Math.sin(angle)).toFixed(2)}`;
  };
  return `M${point(from)}A${RADIUS} ${RADIUS} 0 ${end - from > 0.5 ? 1 : 0} 1 ${point(end)}`;
}

/** The number of colours in the stylesheet. */
const COLOURS = 8;

/** The class that gives a node its colour. More nodes than colours begin again with the first colour. */
export const nodeColour = (index: number) => styles[`colour${index % COLOURS}`];
