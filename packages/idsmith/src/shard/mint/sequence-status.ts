/** The state of a node's sequence, as a process of some node set reads it. */
export interface SequenceStatus {
  /**
   * `missing` if the node has no sequence; otherwise the owner: the reader's node set or another one. `misplaced` if the node
   * has another index in the reader's node set than the reader thinks.
   */
  readonly whose: 'missing' | 'own' | 'foreign' | 'misplaced';
  readonly state: '' | 'pending' | 'open' | 'closed';
  /** The fingerprint of the node set that owns the sequence. */
  readonly fingerprint: string;
  /** The fingerprint of the node set that a closed sequence was handed over to. */
  readonly next: string;
  /** The nodes of the owning node set, for people. */
  readonly nodes: string;
  readonly generation: number;
  /** No node set has minted a key beyond this millisecond on the node. */
  readonly high: number;
  /** The owning node set mints on the node beyond this millisecond only. */
  readonly from: number;
  /** The sequence is missing, or may be older than the last key that was minted. */
  readonly lost: boolean;
  /** The clock of the node, ms since the epoch. */
  readonly now: number;
}

/** Reads the reply of a script that returns the status of a sequence. */
export function sequenceStatusOf(reply: readonly unknown[]): SequenceStatus {
  const [whose, state, next, nodes, generation, high, lost, fingerprint, now, from] = reply;
  return {
    whose: String(whose) as SequenceStatus['whose'],
    state: String(state) as SequenceStatus['state'],
    fingerprint: String(fingerprint),
    next: String(next),
    nodes: String(nodes),
    generation: Number(generation),
    high: Number(high),
    from: Number(from),
    lost: Number(lost) === 1,
    now: Number(now),
  };
}
