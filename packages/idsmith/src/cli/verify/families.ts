import { defineLayout } from '../../flake/layout.js';

/** The families that `idsmith verify` mints. */
export const FAMILIES = ['flakes', 'locality', 'sequences'] as const;
export type Family = (typeof FAMILIES)[number];

/** A tick is longer than the pause between two ids, so that two processes with one node id would soon meet in a tick. */
export const TICK = 40;

/** The layout of the flakes of a run. */
export const LAYOUT = defineLayout({
  epoch: Date.UTC(2020, 0, 1),
  tick: TICK,
  timeBits: 38,
  nodeBits: 9,
  sequenceBits: 13,
});

/** The node id and the time of an id. Sequences have neither. */
export function originOf(
  family: Family,
  id: string,
): { readonly node: number; readonly time: number } | undefined {
  if (family === 'sequences') return undefined;
  if (family === 'flakes') {
    const { node, timestamp } = LAYOUT.decode(id);
    return { node, time: timestamp };
  }
  const digits = id.replaceAll('-', '');
  return { node: Number.parseInt(digits.slice(8, 12), 16), time: Number.parseInt(digits.slice(20), 16) };
}
