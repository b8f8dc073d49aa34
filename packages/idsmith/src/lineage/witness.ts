import type { StoreError } from '../errors.js';
import { show } from '../options.js';
import { further, judgeNumber } from './judge.js';
import { wentBack } from './went-back.js';

/** A run of numbers, as a store gives it. */
interface Run {
  readonly first: bigint;
  readonly step: number;
  readonly count: number;
}

/** The changes of a sequence that matter to a witness. */
interface Changes {
  readonly next?: bigint | undefined;
  readonly cycle?: boolean | undefined;
}

/** The calls of a store that a witness watches. */
interface WatchedStore<Block extends Run, Altered> {
  allocate(name: string, blocks: number): Promise<Block>;
  giveBack?(name: string, tail: Block): Promise<boolean>;
  removeSequence(name: string): Promise<void>;
  alterSequence(name: string, changes: Changes): Promise<Altered>;
  describeSequence(name: string): Promise<{ readonly cycle: boolean; readonly next: bigint }>;
  restoreSequence?(
    name: string,
    witness: { readonly seen: bigint; readonly instead: Block },
  ): Promise<{ readonly next: bigint | undefined }>;
}

/** What this process has got from a sequence. */
interface Memory {
  /** The number after the last one. */
  end: bigint;
  readonly step: number;
  /** The calls on their way, each with the number that its answer may not be before. */
  readonly underway: Set<{ limit: bigint | undefined }>;
}

/**
 * A store whose numbers are compared with what this process has got before. The process remembers what the store may forget: a number that it has
 * got, or one before it, is not handed out. The store is moved on instead.
 */
export function witnessed<Block extends Run, Altered>(
  store: WatchedStore<Block, Altered>,
): Omit<WatchedStore<Block, Altered>, 'describeSequence' | 'restoreSequence'> {
  const memories = new Map<string, Memory>();

  async function allocate(name: string, blocks: number): Promise<Block> {
    const before = memories.get(name);
    const call = { limit: before?.end };
    before?.underway.add(call);
    try {
      const block = await store.allocate(name, blocks);
      if (before?.step === Math.sign(block.step)) {
        const verdict = judgeNumber(call.limit, block.first, block.step);
        if (verdict.kind === 'continue-at') {
          if (!(await store.describeSequence(name)).cycle) throw await moveOn(name, block, before.end);
          // A new round: what was got in the last one says nothing any more.
          forget(name);
        }
      }
      remember(name, block);
      return block;
    } finally {
      before?.underway.delete(call);
    }
  }

  function remember(name: string, { first, step, count }: Run): void {
    const end = first + BigInt(step) * BigInt(count);
    const known = memories.get(name);
    if (known?.step === Math.sign(step)) known.end = further(known.end, end, step);
    else memories.set(name, { end, step: Math.sign(step), underway: new Set() });
  }

  function forget(name: string): void {
    for (const call of memories.get(name)?.underway ?? []) call.limit = undefined;
    memories.delete(name);
  }

  /** Moves a sequence on beyond everything that this process has got, and beyond what others may have got. */
  async function moveOn(name: string, block: Block, seen: bigint): Promise<StoreError> {
    let next = seen;
    const outcome = await beyond(name, block, seen).then(
      (place) => {
        next = place;
        return `it continues at ${next} now`;
      },
      (error: unknown) =>
        `set its next to ${seen} or further on, which failed here: ${(error as Error).message}`,
    );
    return wentBack({
      message:
        `the store has lost acknowledged writes, or another store has taken its place: sequence ${show(name)} gave ${block.first}, and ` +
        `this process has got numbers up to ${seen} before. Nothing was handed out; ${outcome}. Other processes may have got numbers that ` +
        'repeat: see docs/lineage.md',
      sequence: name,
      next,
    });
  }

  /** Moves a sequence to its ceiling, where it has one and nobody was quicker, and to the number that was seen if that is further on. */
  async function beyond(name: string, block: Block, seen: bigint): Promise<bigint> {
    const { next } = (await store.restoreSequence?.(name, { seen, instead: block })) ?? {};
    const place = next ?? (await store.describeSequence(name)).next;
    if (further(place, seen, block.step) === place) return place;
    await store.alterSequence(name, { next: seen });
    return seen;
  }

  return {
    allocate,

    removeSequence(name) {
      forget(name);
      return store.removeSequence(name);
    },

    alterSequence(name, changes) {
      // A cycle that ends goes on from its last round, which is behind what earlier rounds gave.
      if (changes.cycle === false) forget(name);
      return store.alterSequence(name, changes);
    },

    ...(store.giveBack && {
      async giveBack(name, tail) {
        const known = memories.get(name);
        const end = known?.end;
        // Before the answer: the ids may be given out again at once, even to this process.
        if (known) lower(known, tail.first);
        const isBack = (await store.giveBack?.(name, tail)) ?? false;
        if (!isBack && known && end !== undefined) known.end = further(known.end, end, known.step);
        return isBack;
      },
    }),
  };
}

function lower(memory: Memory, to: bigint): void {
  const sooner = (number: bigint) => (further(number, to, memory.step) === number ? to : number);
  memory.end = sooner(memory.end);
  for (const call of memory.underway) if (call.limit !== undefined) call.limit = sooner(call.limit);
}
