import type { Store } from 'idsmith';
import type { Call } from '../history/call-log.js';
import type { Finding } from './rules.js';

/** The most that the clocks may differ, ms: the default `maxSkew` of leases. */
const MAX_DIFFERENCE = 10_000;
/** The most that two readings of the store's clock may disagree, ms. Some stores have whole seconds. */
const MAX_DISAGREEMENT = 2000;
const READINGS = 5;

/** The store's clock minus the machine's clock, ms, from the quickest of a few readings; `undefined` if there is nothing to compare. */
export async function clockDifference(store: Store): Promise<number | undefined> {
  if (store.now === undefined || store.hostClock === true) return undefined;
  let best = { took: Number.POSITIVE_INFINITY, difference: 0 };
  for (let i = 0; i < READINGS; i++) {
    const before = Date.now();
    const now = await store.now();
    const after = Date.now();
    const took = after - before;
    if (took < best.took) best = { took, difference: Math.round(now - (before + after) / 2) };
  }
  return best.difference;
}

/** A finding if the clocks differ by more than leases allow. */
export function auditDifference(difference: number | undefined): Finding[] {
  if (difference === undefined || Math.abs(difference) <= MAX_DIFFERENCE) return [];
  const side = difference > 0 ? 'ahead of' : 'behind';
  const detail =
    `the store's clock is ${(Math.abs(difference) / 1000).toFixed(1)} s ${side} the clock of this machine, and leases ` +
    `allow ${MAX_DIFFERENCE / 1000} s: no process of this machine would get a node id`;
  return [{ rule: 'clock', detail }];
}

/** A finding if the readings of the store's clock disagree, measured by a clock of this machine that never jumps. */
export function auditReadings(calls: readonly Call[]): Finding[] {
  const readings = calls.filter(({ name, result }) => name === 'now' && typeof result === 'number');
  // A reading was taken between the question and the answer, so each gives a range for the difference of the two clocks.
  const lowest = Math.max(...readings.map(({ result, ended }) => (result as number) - (ended as number)));
  const highest = Math.min(...readings.map(({ result, at }) => (result as number) - at));
  if (!(lowest - highest > MAX_DISAGREEMENT)) return [];
  const detail =
    `readings of the store's clock disagree by at least ${((lowest - highest) / 1000).toFixed(1)} s: ` +
    'it jumped, or servers with different clocks answer';
  return [{ rule: 'clock', detail }];
}
