import { defineLayout } from 'idsmith';

/** Everything that processes can mint, in the order of the codes in records. */
export const FAMILIES = ['flakes', 'locality', 'uuid7', 'sequences', 'keys'] as const;
export type Family = (typeof FAMILIES)[number];

/** The families whose ids come from a lease, and so have a node id and a time. */
export type LeasedFamily = 'flakes' | 'locality' | 'uuid7';

/** A tick is longer than the pause between two handfuls of ids, so that two processes with one node id would soon meet in a tick. */
export const TICK = 40;

/** The layout of the flakes of a run. */
export const LAYOUT = defineLayout({
  epoch: Date.UTC(2020, 0, 1),
  tick: TICK,
  timeBits: 38,
  nodeBits: 9,
  sequenceBits: 13,
});

/** The node id and the time of an id from a lease; `undefined` for other ids. */
export function originOf(
  family: Family,
  id: bigint,
): { readonly node: number; readonly time: number } | undefined {
  if (family === 'flakes') {
    const { node, timestamp } = LAYOUT.decode(id);
    return { node, time: timestamp };
  }
  // Bytes 4 and 5 are the process id, bytes 10 to 15 the time.
  if (family === 'locality')
    return { node: Number((id >> 80n) & 0xffffn), time: Number(id & 0xffff_ffff_ffffn) };
  if (family === 'uuid7') return { node: Number(id & 0xffffn), time: Number(id >> 80n) };
  return undefined;
}

/** An id as its users write it. */
export function idText(family: Family, id: bigint): string {
  if (family !== 'locality' && family !== 'uuid7') return String(id);
  return id
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
