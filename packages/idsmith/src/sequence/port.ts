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
  /** Takes back the unused end of a run. Returns `false` when another process has allocated since, and changes nothing then. */
  giveBack?(tail: Block): Promise<boolean>;
  /** True if no other process has allocated since the run. A source with this method gets ids back when the demand falls. */
  isLast?(run: Block): Promise<boolean>;
  /** Tells whether another source draws from the same place in the same way. Default only the same object does. */
  isSame?(other: BlockSource): boolean;
}

/** The definition and the state of a sequence. */
export interface SequenceInfo {
  readonly name: string;
  /** The first id of the sequence; `undefined` where another program defined it. */
  readonly start: bigint | undefined;
  /** The first id of the next block. Meaningless once the last id was taken. */
  readonly next: bigint;
  /** The number of ids in a block. */
  readonly blockSize: number;
  /** The distance from one id to the next; negative descends. */
  readonly step: number;
  readonly min: bigint;
  readonly max: bigint;
  /** True when the sequence starts over after its last id, and so repeats its ids: at `min`, or at `max` if it descends. */
  readonly cycle: boolean;
  /**
   * True when no block can be taken any more: the last id was taken, or fewer ids are left than a block needs. A smaller block size
   * or a further limit reaches those.
   */
  readonly exhausted: boolean;
}

/** Options of a sequence. */
export interface SequenceOptions {
  /** The first id. Default 1. */
  readonly start?: bigint | number | undefined;
  /** The number of ids that a process takes from the store at a time, from 1 to 2^31 − 1. Default 20. */
  readonly blockSize?: number | undefined;
  /** The distance from one id to the next, not 0; negative descends. Default 1. */
  readonly step?: number | undefined;
  /** The lowest id. Default −2^63; in a cycle that ascends, `start`. */
  readonly min?: bigint | number | undefined;
  /** The highest id. Default 2^63 − 1; in a cycle that descends, `start`. */
  readonly max?: bigint | number | undefined;
  /** Starts over after the last id. Default `false`. */
  readonly cycle?: boolean | undefined;
}

/** Changes of a sequence. A member that is left out stays as it is. */
export interface SequenceChanges {
  /** The next id. It moves only forward, in the direction of the step: earlier ids may have been given out. */
  readonly next?: bigint | number | undefined;
  readonly blockSize?: number | undefined;
  /** The new distance, with the same sign as before. */
  readonly step?: number | undefined;
  readonly min?: bigint | number | undefined;
  readonly max?: bigint | number | undefined;
  readonly cycle?: boolean | undefined;
}

/** A sequence to be defined: its name and its options. */
export interface SequenceDefinition extends SequenceOptions {
  readonly name: string;
  /**
   * True when the store has lost the sequence, and `start` is beyond all numbers that it gave out. A store that can forget defines a lost
   * sequence only if a person says so. Default `false`.
   */
  readonly lost?: boolean | undefined;
  /**
   * A time before which none of the numbers can have been given out, Unix ms: the beginning of the year that they are for. A sequence that may
   * have been in writes that its store has lost begins further on than at its start. One that is for later does not. Default 0.
   */
  readonly notBefore?: number | undefined;
}

/** What a process knows of a sequence whose store has gone back. */
interface SequenceWitness {
  /** The number after the last one that the process has got. */
  readonly seen: bigint;
  /** The run that the process got in the place of later numbers. */
  readonly instead: Block;
}

/** What the row of a sequence has while numbers may be taken from it. */
export interface TrustedState {
  /** The lineage of the store; `undefined` if the store cannot tell. */
  readonly lineage: string | undefined;
  readonly generation: number;
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
  /** Takes back the unused end of a run. Returns `false` when another process has allocated since, and changes nothing then. */
  giveBack?(name: string, tail: Block): Promise<boolean>;
  /**
   * Moves a sequence on after the store was restored from a backup, beyond all numbers that may have been given out. Returns the next number;
   * `undefined` if a person must tell it by `alterSequence`.
   *
   * @param witness what a process knows that got a run in the place of later numbers. Then nothing is changed, and `undefined` returned, where the
   * store has no ceiling for the sequence, or somebody has moved the sequence since
   */
  restoreSequence?(name: string, witness?: SequenceWitness): Promise<{ readonly next: bigint | undefined }>;
  /**
   * Makes sure that numbers may be taken from the row of a sequence, in a transaction of the store: if the store has gone back, the sequence first
   * moves on. Gives what the row must have in that transaction.
   *
   * @throws NoSuchSequenceError when there is none of that name
   */
  trust?(name: string): Promise<TrustedState>;
  /** Notes that the numbers before `position` were taken from a row in such a transaction. */
  noteTaken?(row: SequenceInfo, position: bigint): void;
  /** A person says that the store knows all names that were ever used in it: `idsmith init`. So sequences that are not there are new. */
  confirmNames?(): Promise<void>;
  /**
   * Notes that the store may have lost names: a person says so (`idsmith restored`), or a process that has got numbers which the store does not know.
   * Only for a store whose sequences go on without a person.
   *
   * @param since a time before the loss, Unix ms: one that was noted at that time or later is the same one. Without it, the loss is another one.
   */
  doubtNames?(since?: number): Promise<void>;
  /** True if a sequence that is not in the store may be lost, and nobody has vouched for the names since. */
  areNamesDoubted?(): Promise<boolean>;
  /** What an operator should know of the store's past: losses that were found, and sequences that a loss could repeat. */
  warnings?(): readonly string[];
  /** The lineage that the last row was read under. */
  lineageRead?(): string | undefined;
  /** Resolves when nothing is being written in the background. `close()` waits for it. */
  settled?(): Promise<void>;
}
