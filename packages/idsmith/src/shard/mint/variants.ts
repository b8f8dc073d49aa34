import { VARIANTS } from '../keys/codec.js';

/** Consecutive variants of a millisecond, both ends among them. */
export interface VariantSpan {
  readonly first: number;
  readonly last: number;
}

/**
 * The variants of a ring that began on empty nodes: those that begin with `0` to `P`.
 *
 * Nobody can tell an empty node that is new from one that has lost everything. A config from before a hand-over may
 * thus begin again on its nodes when all of them were emptied. It then mints other variants than the ring that took
 * over from it, so that the two never meet, whatever the clocks say and whichever nodes they have.
 */
export const FOUNDED: VariantSpan = { first: 0, last: 26 * 62 - 1 };

/** The variants of a ring that took over from another one: those that begin with `Q` to `p`. */
export const HANDED_OVER: VariantSpan = { first: 26 * 62, last: 52 * 62 - 1 };

/**
 * The variants of a node that cannot be sure of the other nodes of its ring: those that begin with `q` to `z`. A ring
 * that is sure of all its nodes, as every ring of one node is, never mints them.
 */
export const UNSURE: VariantSpan = { first: 52 * 62, last: VARIANTS - 1 };

/** How many variants there are. */
export function widthOf({ first, last }: VariantSpan): number {
  return last - first + 1;
}
