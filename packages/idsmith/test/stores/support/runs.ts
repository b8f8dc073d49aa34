import { setTimeout as sleep } from 'node:timers/promises';
import type { Block, SequenceStore } from 'idsmith';
import { partOf } from '../../../src/sequence/block.ts';

const endOf = ({ first, step, count }: Block) => first + BigInt(step) * BigInt(count);

/** Pairs of runs of an ascending sequence that are not one beside the other. Of `'overlap'` every test wants none. */
export function notBeside(blocks: readonly Block[], how: 'overlap' | 'gap'): [Block, Block][] {
  const runs = [...blocks].sort((a, b) => (a.first < b.first ? -1 : 1));
  return runs
    .slice(1)
    .map((run, i): [Block, Block] => [runs[i]!, run])
    .filter(([one, two]) => (how === 'overlap' ? two.first < endOf(one) : two.first > endOf(one)));
}

/** Allocates one block after the other from each of the stores, `count` times. */
export async function drain(stores: readonly SequenceStore[], name: string, count: number): Promise<Block[]> {
  const drained = stores.map(async (store) => {
    const blocks: Block[] = [];
    while (blocks.length < count) blocks.push(await store.allocate(name, 1));
    return blocks;
  });
  return (await Promise.all(drained)).flat();
}

/** Clients that allocate without end, whatever happens to their store. */
export interface Load {
  readonly blocks: Block[];
  readonly errors: unknown[];
  /** Ends it, and gives all blocks that it was given. */
  stop(): Promise<Block[]>;
}

export function startLoad(stores: readonly SequenceStore[], name: string): Load {
  const blocks: Block[] = [];
  const errors: unknown[] = [];
  let stopped = false;
  const work = stores.map(async (store, i) => {
    while (!stopped) {
      try {
        blocks.push(await store.allocate(name, 1 + (i % 3)));
      } catch (error) {
        errors.push(error);
        await sleep(20);
      }
    }
  });
  return {
    blocks,
    errors,
    async stop() {
      stopped = true;
      await Promise.all(work);
      return blocks;
    },
  };
}

/** Clients that do everything at once to an ascending sequence; gives the runs that they kept. */
export async function scramble(
  stores: readonly SequenceStore[],
  name: string,
  rounds: number,
): Promise<Block[]> {
  const kept: Block[] = [];
  const work = stores.map(async (store, i) => {
    for (let round = 0; round < rounds; round++) {
      const block = await store.allocate(name, 1 + ((i + round) % 3));
      const unused = i % 2 === 0 ? Math.floor(block.count / 2) : 0;
      const tail = partOf(block, block.count - unused, unused);
      const isBack = unused > 0 && (await store.giveBack!(name, tail));
      kept.push(isBack ? { ...block, count: block.count - unused } : block);
      if (i === 0) await store.alterSequence(name, { blockSize: 2 + (round % 5), step: 1 + (round % 3) });
    }
  });
  await Promise.all(work);
  return kept;
}
