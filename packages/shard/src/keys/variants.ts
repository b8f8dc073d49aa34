import { VARIANTS } from './codec.js';

/** Consecutive variants of a millisecond, from `first` to `last`, both included. */
export interface VariantSpan {
  readonly first: number;
  readonly last: number;
}

/**
 * The variants of a node set that began on empty nodes: those that begin with `0` to `P`.
 *
 * An empty node may be new, or it may have lost everything. Nobody can tell the difference. So a config from before a
 * handover may begin again after all of its nodes were emptied. It then mints other variants than the node set that took
 * over, and their keys never meet, whatever the clocks say and whichever nodes they have.
 */
export const FRESH_VARIANTS: VariantSpan = { first: 0, last: 26 * 62 - 1 };

/** The variants of a node set that took over from another one: those that begin with `Q` to `p`. */
export const HANDOVER_VARIANTS: VariantSpan = { first: 26 * 62, last: 52 * 62 - 1 };

/**
 * The variants of a node that has no proof of the other nodes of its node set, which began on empty nodes: those that begin with
 * `q` to `u`. A node set with proofs of all its nodes never mints them. Neither does a node set of one node.
 */
export const FRESH_UNSURE_VARIANTS: VariantSpan = { first: 52 * 62, last: 57 * 62 - 1 };

/** The same for a node set that took over: those that begin with `v` to `z`. */
export const HANDOVER_UNSURE_VARIANTS: VariantSpan = { first: 57 * 62, last: VARIANTS - 1 };

/** The number of variants in a span. */
export function widthOf({ first, last }: VariantSpan): number {
  return last - first + 1;
}
