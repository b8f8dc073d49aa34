/** A run of ids that one client owns: `first`, `first + step`, …, `count` of them. */
export interface Block {
  readonly first: bigint;
  readonly step: number;
  readonly count: number;
  /**
   * The generation of the sequence that the run is from. A sequence that is removed and defined again is another generation. For
   * the store only, so the property is not enumerable.
   */
  readonly origin?: number;
}

/** A source of blocks for a sequence. */
export interface BlockSource {
  /**
   * Allocates the next `blocks` blocks as one run, which nobody else ever gets. The run has fewer blocks where fewer are left, or
   * where the source gives one block at a time.
   *
   * @throws SequenceExhaustedError when not even one block is left
   */
  allocate(blocks: number): Promise<Block>;
  /** Takes back the unused end of a run. Returns `false` when somebody has allocated since, and changes nothing then. */
  giveBack?(tail: Block): Promise<boolean>;
  /** Tells whether nobody has allocated since the run. A source with this method gets ids back when the demand falls. */
  isLast?(run: Block): Promise<boolean>;
}

/** The definition and the state of a sequence. */
export interface SequenceInfo {
  readonly name: string;
  /** The first id of the sequence; `undefined` where another program defined it. */
  readonly start: bigint | undefined;
  /** The first id of the next block, meaningless once the sequence is exhausted. */
  readonly next: bigint;
  /** The number of ids in a block. */
  readonly blockSize: number;
  /** The distance from one id to the next; negative descends. */
  readonly step: number;
  readonly min: bigint;
  readonly max: bigint;
  /** True when the sequence starts over after its last id, and so repeats its ids: at `min`, or at `max` if it descends. */
  readonly cycle: boolean;
  /** True when the last id has been given out. */
  readonly exhausted: boolean;
}

/** Options of a sequence. */
export interface SequenceOptions {
  /** The first id. Default 1. */
  readonly start?: bigint | number;
  /** The number of ids that a process takes from the store at a time, from 1 to 2^31 − 1. Default 20. */
  readonly blockSize?: number;
  /** The distance from one id to the next, not 0; negative descends. Default 1. */
  readonly step?: number;
  /** The lowest id. Default −2^63; in a cycle that ascends, `start`. */
  readonly min?: bigint | number;
  /** The highest id. Default 2^63 − 1; in a cycle that descends, `start`. */
  readonly max?: bigint | number;
  /** Starts over after the last id. Default `false`. */
  readonly cycle?: boolean;
}

/** Changes of a sequence. A member that is left out stays as it is. */
export interface SequenceChanges {
  /** The next id. It moves only forward, in the direction of the step: earlier ids may have been given out. */
  readonly next?: bigint | number;
  readonly blockSize?: number;
  /** The new distance, with the same sign as before. */
  readonly step?: number;
  readonly min?: bigint | number;
  readonly max?: bigint | number;
  readonly cycle?: boolean;
}

/** A sequence to be defined: its name and its options. */
export interface SequenceDefinition extends SequenceOptions {
  readonly name: string;
}

/** The part of a store that sequences use. */
export interface SequenceStore {
  /** @throws SequenceExistsError when there is one of that name */
  defineSequence(info: SequenceDefinition): Promise<void>;
  /** @throws NoSuchSequenceError when there is none of that name */
  alterSequence(name: string, changes: SequenceChanges): Promise<SequenceInfo>;
  /** @throws NoSuchSequenceError when there is none of that name */
  describeSequence(name: string): Promise<SequenceInfo>;
  /** All sequences, sorted by name. */
  listSequences(): Promise<SequenceInfo[]>;
  /** @throws NoSuchSequenceError when there is none of that name */
  removeSequence(name: string): Promise<void>;
  /**
   * Allocates the next `blocks` blocks as one run. The run has fewer blocks where fewer are left.
   *
   * @throws NoSuchSequenceError when there is no such sequence
   * @throws SequenceExhaustedError when not even one block is left
   * @throws StoreError when the store failed; if only its answer was lost, the ids are lost, too
   */
  allocate(name: string, blocks: number): Promise<Block>;
  /** Takes back the unused end of a run. Returns `false` when somebody has allocated since, and changes nothing then. */
  giveBack?(name: string, tail: Block): Promise<boolean>;
}
