import type { Block } from 'idsmith';
import { expect, it } from 'vitest';
import { inLockstep } from './lockstep.ts';
import { expectNoGap, idsOf, repeatedly, type SharedDatabase, sortedIds } from './shared-database.ts';

const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Many clients on one sequence, and the ends of what a column holds. */
export function loadCases(open: () => Promise<SharedDatabase>): void {
  const withDatabase = (work: (shared: SharedDatabase) => Promise<void>) => async () => {
    const shared = await open();
    await work(shared).finally(() => shared.close());
  };

  it(
    'gives consecutive ids over fifty blocks, and two clients a block each in turn',
    withDatabase(async (shared) => {
      const [one, two] = [shared.store(), shared.store()];
      await one.defineSequence({ name: 'alone' });
      expectNoGap(await repeatedly(50, () => one.allocate('alone', 1)));
      await one.defineSequence({ name: 'shared', blockSize: 10 });
      const firsts: bigint[] = [];
      for (let i = 0; i < 5; i++)
        for (const store of [one, two]) firsts.push((await store.allocate('shared', 1)).first);
      expect(firsts).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(10 * i + 1)));
    }),
  );

  it(
    'does as the memory store does, whatever three clients do in turn',
    withDatabase(async (shared) => {
      await inLockstep([shared.store(1), shared.store(1), shared.store(1)], 25);
    }),
  );

  it(
    'gives six users three blocks each, wherever it starts and however large a block is',
    withDatabase(async (shared) => {
      const users = Array.from({ length: 6 }, () => shared.store(1));
      for (const start of [0, -10, -1_000_000_000]) {
        for (const blockSize of [3, 100, 1000]) {
          const name = `from ${start} by ${blockSize}`;
          await users[0]!.defineSequence({ name, start, blockSize });
          const taken = users.map((store) => repeatedly(3, () => store.allocate(name, 1)));
          expectNoGap((await Promise.all(taken)).flat(), BigInt(start));
        }
      }
    }),
  );

  it(
    'gives fifteen users a thousand ids each',
    withDatabase(async (shared) => {
      const users = Array.from({ length: 15 }, () => shared.store(1));
      await users[0]!.defineSequence({ name: 'busy' });
      const taken = users.map((store) => repeatedly(50, () => store.allocate('busy', 1)));
      const blocks = (await Promise.all(taken)).flat();
      expect(sortedIds(blocks)).toHaveLength(15_000);
      expectNoGap(blocks);
    }),
  );

  it(
    'serves 64 connections on one sequence without a gap, with one statement a block',
    withDatabase(async (shared) => {
      const users = Array.from({ length: 64 }, () => shared.store(1));
      await users[0]!.defineSequence({ name: 'hot' });
      // Set-up, and how each of them first sees the sequence.
      const blocks: Block[] = await Promise.all(users.map((store) => store.allocate('hot', 1)));
      const before = shared.statements();
      const taken = users.map((store) => repeatedly(10, () => store.allocate('hot', 1)));
      blocks.push(...(await Promise.all(taken)).flat());
      expectNoGap(blocks);
      expect((shared.statements() - before) / 640).toBeLessThanOrEqual(1.1);
    }),
  );

  it(
    'takes steps that are further than 64 bits hold, and ends where they do',
    withDatabase(async (shared) => {
      const store = shared.store();
      const step = 2 ** 53 - 1;
      await store.defineSequence({ name: 'far', start: MIN, step, blockSize: 2000 });
      const run = await store.allocate('far', 1);
      expect(run).toMatchObject({ first: MIN, step, count: 2000 });
      expect(idsOf(run).at(-1)).toBe(MIN + 1999n * BigInt(step));
      expect((await shared.row('far'))?.next_block_start).toBe(String(MIN + 2000n * BigInt(step)));
      await store.defineSequence({ name: 'leap', start: MIN });
      expect((await store.alterSequence('leap', { next: MAX, blockSize: 1 })).next).toBe(MAX);
      expect(idsOf(await store.allocate('leap', 1))).toEqual([MAX]);
      expect(await shared.row('leap')).toMatchObject({ next_block_start: String(MIN), exhausted: '1' });
    }),
  );

  it(
    'keeps up with others who are far ahead of where it has last seen the sequence',
    withDatabase(async (shared) => {
      const [one, two] = [shared.store(), shared.store()];
      const step = 2 ** 50;
      await one.defineSequence({ name: 'strides', blockSize: 2, step });
      const blocks: Block[] = [];
      for (let i = 0; i < 10; i++)
        for (const store of [one, two]) blocks.push(await store.allocate('strides', 3));
      expect(sortedIds(blocks)).toEqual(Array.from({ length: 120 }, (_, i) => BigInt(i) * BigInt(step) + 1n));
    }),
  );
}
