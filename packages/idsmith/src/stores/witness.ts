import { systemClock } from '../clock.js';
import { hasCode, type StoreError } from '../errors.js';
import { further, judgeNumber } from '../lineage/judge.js';
import { wentBack } from '../lineage/went-back.js';
import { show } from '../options.js';
import { endOf, isBlock } from '../sequence/block.js';
import type { Block, SequenceStore } from '../sequence/port.js';

// What this process remembers of the numbers that its stores have given to it.

/** The memory of a store's numbers, for those that are taken in transactions, beside `allocate`. */
export interface Witness {
  /** The number after the last one that this process has got, if a number is not beyond it; `undefined` if the number is new. */
  seen(name: string, number: bigint, step: number): bigint | undefined;
  remember(name: string, block: Block): void;
  /** Moves a sequence on beyond everything that this process has got, and beyond what others may have got. Gives the error for the caller. */
  moveOn(name: string, instead: Block, seen: bigint): Promise<StoreError>;
}

/** What this process has got from a sequence. */
interface Memory {
  /** The number after the last one. */
  end: bigint;
  /** The time of the last one, ms. */
  at: number;
  readonly step: number;
  /** The calls on their way, each with the number that its answer may not be before. */
  readonly underway: Set<{ limit: bigint | undefined }>;
}

/**
 * The methods of a store whose numbers are compared with what this process has got before. The process remembers what the store may forget: a
 * number that it has got, or one before it, is not handed out. The store is moved on instead.
 */
export function witnessed(store: SequenceStore): Witness & {
  readonly methods: Pick<SequenceStore, 'allocate' | 'giveBack' | 'removeSequence' | 'alterSequence'>;
} {
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

  function remember(name: string, block: Block): void {
    const { step } = block;
    const end = endOf(block);
    const known = memories.get(name);
    const at = systemClock.now();
    if (known?.step === Math.sign(step)) Object.assign(known, { end: further(known.end, end, step), at });
    else memories.set(name, { end, at, step: Math.sign(step), underway: new Set() });
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
    // Whole sequences may be lost, too. First, because nobody finds the loss again once the sequence has moved on.
    await store.doubtNames?.(memories.get(name)?.at);
    const { next } = (await store.restoreSequence?.(name, { seen, instead: block })) ?? {};
    const place = next ?? (await store.describeSequence(name)).next;
    if (further(place, seen, block.step) === place) return place;
    await store.alterSequence(name, { next: seen });
    return seen;
  }

  const takeBack = store.giveBack?.bind(store);
  const methods: ReturnType<typeof witnessed>['methods'] = {
    allocate,

    async removeSequence(name) {
      try {
        await store.removeSequence(name);
      } catch (error) {
        // The answer to an earlier call may have been lost.
        if (hasCode(error, 'NO_SUCH_SEQUENCE')) forget(name);
        throw error;
      }
      forget(name);
    },

    alterSequence(name, changes) {
      // A cycle that ends goes on from its last round, which is behind what earlier rounds gave.
      if (changes.cycle === false) forget(name);
      return store.alterSequence(name, changes);
    },

    ...(takeBack && {
      async giveBack(name, tail) {
        const known = memories.get(name);
        const end = known?.end;
        const isAlike = known !== undefined && isBlock(tail) && known.step === Math.sign(tail.step);
        // Somebody else in this process has got later numbers, so the store has no reason to take these.
        if (isAlike && further(known.end, endOf(tail), tail.step) !== endOf(tail)) return false;
        // Before the answer: the ids may be given out again at once, even to this process.
        if (isAlike) lower(known, tail.first);
        const isBack = await takeBack(name, tail);
        if (!isBack && known && end !== undefined) known.end = further(known.end, end, known.step);
        return isBack;
      },
    }),
  };
  return {
    methods,
    remember,
    moveOn,
    seen(name, number, step) {
      const end = memories.get(name)?.end;
      return judgeNumber(end, number, step).kind === 'go-on' ? undefined : end;
    },
  };
}

function lower(memory: Memory, to: bigint): void {
  const sooner = (number: bigint) => (further(number, to, memory.step) === number ? to : number);
  memory.end = sooner(memory.end);
  for (const call of memory.underway) if (call.limit !== undefined) call.limit = sooner(call.limit);
}
