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

/** The node of a flake. */
export function nodeOf(id: bigint): number {
  return Number((id >> BigInt(LAYOUT.sequenceBits)) & BigInt(2 ** LAYOUT.nodeBits - 1));
}

/** When the tick of a flake began, Unix ms. */
export function timeOf(id: bigint): number {
  return LAYOUT.epoch + Number(id >> BigInt(LAYOUT.sequenceBits + LAYOUT.nodeBits)) * LAYOUT.tick;
}
