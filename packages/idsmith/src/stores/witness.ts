import { systemClock } from '../clock.js';
import { hasCode, type StoreError } from '../errors.js';
import { further } from '../lineage/judge.js';
import { KeptRuns } from '../lineage/kept-runs.js';
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

/** What this process has kept of the numbers of a sequence. */
interface Memory {
  readonly kept: KeptRuns;
  /** The time of the last numbers, ms. */
  at: number;
}

/** The most sequences that are remembered: those that were used last. */
const MOST_NAMES = 10_000;

/**
 * The methods of a store whose numbers are compared with what this process has kept before. The process remembers what the store may forget: a
 * number that it has kept, or one before it, is not handed out. The store is moved on instead.
 */
export function witnessed(store: SequenceStore): Witness & {
  readonly methods: Pick<SequenceStore, 'allocate' | 'giveBack' | 'removeSequence' | 'alterSequence'>;
} {
  const memories = new Map<string, Memory>();

  function memoryOf(name: string): Memory {
    const memory = memories.get(name) ?? { kept: new KeptRuns(), at: systemClock.now() };
    memories.delete(name);
    memories.set(name, memory);
    if (memories.size > MOST_NAMES) memories.delete(memories.keys().next().value as string);
    return memory;
  }

  async function allocate(name: string, blocks: number): Promise<Block> {
    const { kept } = memoryOf(name);
    const call = kept.send();
    let block: Block;
    try {
      block = await store.allocate(name, blocks);
      if (kept.contradict(block.first, endOf(block), block.step, call)) {
        const { cycle } = await store.describeSequence(name);
        // A new round: what was kept of the last one says nothing any more.
        if (cycle) forget(name);
        else throw await moveOn(name, block, kept.end ?? endOf(block));
      }
    } finally {
      kept.ended(call);
      if (kept.isUnused) memories.delete(name);
    }
    remember(name, block);
    return block;
  }

  function remember(name: string, block: Block): void {
    const memory = memoryOf(name);
    memory.kept.keep(block.first, endOf(block), block.step);
    memory.at = systemClock.now();
  }

  function forget(name: string): void {
    memories.get(name)?.kept.forget();
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
        // Before the answer: the ids may be given out again at once, even to this process.
        const kept = isBlock(tail) ? memories.get(name)?.kept : undefined;
        if (kept?.letGo(tail.first, endOf(tail), tail.step) === false) return false;
        return takeBack(name, tail);
      },
    }),
  };
  return {
    methods,
    remember,
    moveOn,
    seen(name, number, step) {
      const kept = memories.get(name)?.kept;
      return kept?.contradict(number, number + BigInt(step), step) ? kept.end : undefined;
    },
  };
}
