import { digits } from '../../lib/format.js';
import type { LeaseState } from '../../lib/lease-state.js';
import styles from './leases.module.css';

/** The states, the most important first. */
const STATES: readonly (readonly [state: LeaseState, label: string])[] = [
  ['held', 'held'],
  ['fenced', 'fenced ahead'],
  ['expired', 'expired'],
  ['free', 'free'],
  ['odd', 'with an odd record'],
];

/** The number of node ids in each state, beside the colour of the state. */
export function StateLegend({ counts }: { counts: Readonly<Record<LeaseState, number>> }) {
  return (
    <ul class="legend">
      {STATES.filter(([state]) => state !== 'odd' || counts.odd > 0).map(([state, label]) => (
        <li key={state}>
          <StateSwatch state={state} />
          <span class="mono">{digits(counts[state])}</span> {label}
        </li>
      ))}
    </ul>
  );
}

/** A small square in the colours of a state, beside the name of the state. */
export function StateSwatch({ state }: { state: LeaseState }) {
  return <span class={`${styles.swatch} ${state === 'free' ? '' : styles[state]}`} aria-hidden="true" />;
}
