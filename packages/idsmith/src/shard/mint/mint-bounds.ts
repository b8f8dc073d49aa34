import type { MarkStatus } from './node-sequence.js';

/** A node was seen to mint for a ring. */
export interface Proof {
  /** The node mints for the ring beyond this millisecond; up to it another ring may have minted. */
  readonly from: number;
  /** The clock of the node when it was seen, ms since the epoch. */
  readonly now: number;
}

/** The milliseconds that no other ring on the same nodes mints: more than `after`, and `until` at most. */
export interface Bounds {
  readonly after: number;
  readonly until: number;
}

/** The proof in what a mark says; `undefined` if the node does not mint for the reader's ring. */
export function proofOf({ whose, state, lost, from, now }: MarkStatus): Proof | undefined {
  return whose === 'own' && state === 'open' && !lost ? { from, now } : undefined;
}

/**
 * The milliseconds that a node of a ring may mint, seeing that all other nodes of the ring were seen to mint for it.
 *
 * Let two rings share a node `c`. Each of them mints, on whichever node, only milliseconds later than `from` of its
 * mark on `c` and at most `lead` later than a moment when `c` had that mark. The mark of the second ring begins `lead`
 * and `maxSkew` after the moment when `c` got it, or beyond all that the first one has minted when it was handed over.
 * So the milliseconds of the two rings lie one after the other, although neither need know of the other.
 *
 * @param others of each other node the proof, if there is one
 * @returns `undefined` if one is missing
 */
export function boundsOf(others: readonly (Proof | undefined)[], lead: number): Bounds | undefined {
  let [after, until] = [0, Number.MAX_SAFE_INTEGER];
  for (const proof of others) {
    if (proof === undefined) return undefined;
    after = Math.max(after, proof.from);
    until = Math.min(until, proof.now + lead);
  }
  return { after, until };
}
