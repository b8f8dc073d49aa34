/**
 * How the ids of a chaos run are laid out. A tick is longer than the pause between two handfuls of ids, so that two
 * processes with one node id would meet in a tick within moments.
 */
export const LAYOUT = {
  epoch: Date.UTC(2020, 0, 1),
  tick: 20,
  timeBits: 38,
  nodeBits: 9,
  sequenceBits: 13,
} as const;

/** The tick and the node of an id as one number: no two processes may ever share one. */
export function momentOf(id: bigint): bigint {
  return id >> BigInt(LAYOUT.sequenceBits);
}

/** When the tick of an id began, Unix ms. */
export function timeOf(id: bigint): number {
  return LAYOUT.epoch + Number(momentOf(id) >> BigInt(LAYOUT.nodeBits)) * LAYOUT.tick;
}
