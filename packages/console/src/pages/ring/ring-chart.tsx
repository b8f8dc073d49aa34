import { percent } from '../../lib/format.js';
import type { NodeShare } from '../../lib/key-placement.js';
import { nodeColour } from './node-colour.js';
import styles from './ring-chart.module.css';

const RADIUS = 70;

/** The shares as a ring. */
export function RingChart({ shares }: { shares: readonly NodeShare[] }) {
  let at = 0;
  return (
    <svg
      class={styles.chart}
      viewBox="-90 -90 180 180"
      role="img"
      aria-label={`Shares of the keys: ${shares.map(({ name, share }) => `${name} ${percent(share)}`).join(', ')}`}
    >
      {shares.map(({ name, share }, i) => {
        const start = at;
        at += share;
        return share === 0 ? null : (
          <path key={name} class={nodeColour(i)} d={arc(start, at)}>
            <title>{`${name} ${percent(share)}`}</title>
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

/** A piece of the circle between two shares of it, from the top on. */
function arc(from: number, to: number): string {
  // A circle that ends where it begins would be nothing.
  const end = Math.min(to, from + 0.99999);
  const point = (share: number) => {
    const angle = (share - 0.25) * 2 * Math.PI;
    return `${(RADIUS * Math.cos(angle)).toFixed(2)} ${(RADIUS * Math.sin(angle)).toFixed(2)}`;
  };
  return `M${point(from)}A${RADIUS} ${RADIUS} 0 ${end - from > 0.5 ? 1 : 0} 1 ${point(end)}`;
}
