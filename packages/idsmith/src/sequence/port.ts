/** A run of ids that one client owns: `first`, `first + step`, …, `count` of them. */
export interface Block {
  readonly first: bigint;
  readonly step: number;
  readonly count: number;
  /**
   * Which sequence of that name it is from: one that is removed and defined anew is another one. For the store, which
   * makes it a property that is not enumerable.
   */
  readonly origin?: number;
}

/** Where a sequence takes its blocks from. */
export interface BlockSource {
  /**
   * The next `blocks` blocks as one run, which nobody else is ever given; fewer where fewer are left, or where the source
   * gives one at a time.
   *
   * @throws SequenceExhaustedError when not even one block is left
   */
  allocate(blocks: number): Promise<Block>;
  /** Takes back the unused end of a run that it gave, unless somebody has allocated since; returns whether it did. */
  giveBack?(tail: Block): Promise<boolean>;
}

/** What a store tells of a sequence. */
export interface SequenceInfo {
  readonly name: string;
  /** The first id of the sequence; `undefined` where another program defined it. */
  readonly start: bigint | undefined;
  /** The first id of the next block, meaningless once the sequence is exhausted. */
  readonly next: bigint;
  /** How many ids a block has. */
  readonly blockSize: number;
  /** From one id to the next; negative descends. */
  readonly step: number;
  readonly min: bigint;
  readonly max: bigint;
  /** Whether it starts over, from `min` or, descending, from `max`, and so repeats its ids. */
  readonly cycle: boolean;
  /** Whether its last id has been given out. */
  readonly exhausted: boolean;
}

/** What a sequence may be defined with. */
export interface SequenceOptions {
  /** The first id. Default 1. */
  readonly start?: bigint | number;
  /** How many ids are taken from the store at a time, from 1 to 2^31 − 1. Default 20. */
  readonly blockSize?: number;
  /** From one id to the next, not 0; negative descends. Default 1. */
  readonly step?: number;
  /** The lowest id. Default −2^63; in a cycle that ascends, `start`. */
  readonly min?: bigint | number;
  /** The highest id. Default 2^63 − 1; in a cycle that descends, `start`. */
  readonly max?: bigint | number;
  /** Whether to start over when the ids have run out. Default `false`. */
  readonly cycle?: boolean;
}

/** What of a sequence can be altered; what is left out stays. */
export interface SequenceChanges {
  /** Where to go on. Only forward, in the direction of the step: the ids before it may have been given out. */
  readonly next?: bigint | number;
  readonly blockSize?: number;
  /** Of the same sign as before. */
  readonly step?: number;
  readonly min?: bigint | number;
  readonly max?: bigint | number;
  readonly cycle?: boolean;
}

/** A sequence to be defined: its name and what it may be defined with. */
export interface SequenceDefinition extends SequenceOptions {
  readonly name: string;
}

/** What sequences need of a store. */
export interface SequenceStore {
  /** @throws SequenceExistsError when there is one of that name */
  defineSequence(info: SequenceDefinition): Promise<void>;
  /** @throws NoSuchSequenceError when there is none of that name */
  alterSequence(name: string, changes: SequenceChanges): Promise<SequenceInfo>;
  /** @throws NoSuchSequenceError when there is none of that name */
  describeSequence(name: string): Promise<SequenceInfo>;
  /** All of them, by name. */
  listSequences(): Promise<SequenceInfo[]>;
  /** @throws NoSuchSequenceError when there is none of that name */
  removeSequence(name: string): Promise<void>;
  /**
   * The next `blocks` blocks as one run; fewer where fewer are left.
   *
   * @throws NoSuchSequenceError when there is no such sequence
   * @throws SequenceExhaustedError when not even one block is left
   * @throws StoreError when the store failed; if its answer was lost, so are the ids
   */
  allocate(name: string, blocks: number): Promise<Block>;
  /** Takes back the unused end of a run, unless somebody has allocated since; returns whether it did. */
  giveBack?(name: string, tail: Block): Promise<boolean>;
}
