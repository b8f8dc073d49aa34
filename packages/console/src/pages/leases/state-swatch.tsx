import type { LeaseState } from '../../lib/lease-state.js';
import styles from './node-state.module.css';

/** A small square in the colours of a state, beside the name of the state. */
export function StateSwatch({ state }: { state: LeaseState }) {
  return <span class={`${styles.swatch} ${state === 'free' ? '' : styles[state]}`} aria-hidden="true" />;
}
