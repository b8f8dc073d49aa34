/** An observation that a node mints for a node set. */
export interface MintingProof {
  /** The node mints for the node set beyond this millisecond. Up to it, another node set may have minted. */
  readonly from: number;
  /** The clock of the node at the observation, ms since the epoch. */
  readonly now: number;
}

/** The milliseconds that no other node set mints on the same nodes: later than `after`, up to `until`. */
export interface MintBounds {
  readonly after: number;
  readonly until: number;
}

/**
 * The milliseconds that one node may mint, given proofs that all other nodes of its node set mint for that node set.
 *
 * Suppose that two node sets share a node `c`. Each of them mints, on any node, only milliseconds later than `from` of its
 * sequence on `c`, and at most `lead` later than a moment when `c` had that sequence. The sequence of the second node set
 * begins `lead` and `maxSkew` after the moment when `c` got it. After a handover, it begins beyond everything that the
 * first node set has minted. So the milliseconds of the two node sets follow one another, and neither node set has to know
 * of the other.
 *
 * @param others the proof of each other node, or `undefined` where there is none
 * @returns `undefined` if a proof is missing
 */
export function mintBoundsOf(
  others: readonly (MintingProof | undefined)[],
  lead: number,
): MintBounds | undefined {
  let [after, until] = [0, Number.MAX_SAFE_INTEGER];
  for (const proof of others) {
    if (proof === undefined) return undefined;
    after = Math.max(after, proof.from);
    until = Math.min(until, proof.now + lead);
  }
  return { after, until };
}
