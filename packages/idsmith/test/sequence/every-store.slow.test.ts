import {
  NoSuchSequenceError,
  type Sequence,
  SequenceExhaustedError,
  type SequenceOptions,
  Sequences,
  UnsafeIntegerError,
} from 'idsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, SHARED_STORES, type StoreServer } from '#services';
import { openStore } from '../../src/stores/open.ts';
import type { Store } from '../../src/stores/store.ts';

const MAX = 2n ** 63n - 1n;

const inOrder = (ids: bigint[]) => [...ids].sort((a, b) => (a < b ? -1 : 1));
const range = (first: number, count: number) => Array.from({ length: count }, (_, i) => BigInt(first + i));

for (const [store, needs, start] of SHARED_STORES) {
  await describeWith(needs, `sequences on ${store}`, () => {
    let server: StoreServer;
    const open: Store[] = [];

    /** Someone with connections of their own. */
    const user = async () => {
      const made = await openStore(server.url);
      open.push(made);
      return new Sequences(made);
    };
    const define = async (options: SequenceOptions = {}) => {
      const name = crypto.randomUUID();
      await users[0]!.define(name, options);
      return name;
    };
    const drawers = (name: string, count: number) =>
      Promise.all(users.slice(0, count).map((each) => each.get(name, { prefetch: 0 })));
    const closeAll = (sequences: Sequence[]) => Promise.all(sequences.map((each) => each.close()));

    let users: Sequences[];
    beforeAll(async () => {
      server = await start();
      users = await Promise.all(Array.from({ length: 15 }, user));
    });
    afterAll(async () => {
      await Promise.all(open.map((each) => each.close()));
      await server?.stop();
    });

    it('ids are consecutive over 50 blocks', async () => {
      const sequence = await users[0]!.get(await define({ start: -100 }), { prefetch: 0 });
      const ids: bigint[] = [];
      for (let i = 0; i < 1000; i++) ids.push(await sequence.next());
      expect(ids).toEqual(range(-100, 1000));
    });

    it('two users are one block apart', async () => {
      const [one, two] = (await drawers(await define(), 2)) as [Sequence, Sequence];
      expect([await one.next(), await two.next(), await one.next()]).toEqual([1n, 21n, 2n]);
    });

    it('the last three ids come, and then an error', async () => {
      const [sequence] = (await drawers(await define({ start: MAX - 2n, blockSize: 3 }), 1)) as [Sequence];
      expect(await sequence.batch(3)).toEqual([MAX - 2n, MAX - 1n, MAX]);
      await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
    });

    it('2^53 + 1 is exact, and no number', async () => {
      const [sequence] = (await drawers(await define({ start: 2n ** 53n + 1n }), 1)) as [Sequence];
      await expect(sequence.nextNumber()).rejects.toThrow(UnsafeIntegerError);
      expect(await sequence.next()).toBe(2n ** 53n + 1n);
    });

    it('a sequence removed under its users ends with their block', async () => {
      const name = await define({ blockSize: 3 });
      const [sequence] = (await drawers(name, 1)) as [Sequence];
      expect(await sequence.next()).toBe(1n);
      await users[1]!.remove(name);
      expect(await sequence.batch(2)).toEqual([2n, 3n]);
      await expect(sequence.next()).rejects.toThrow(NoSuchSequenceError);
    });

    it('six users of three starts and three block sizes share no id, and leave no gap', async () => {
      const shapes = [0, -10, -1_000_000_000].flatMap((first) =>
        [3, 100, 1000].map((size) => [first, size] as const),
      );
      for (const [first, blockSize] of shapes) {
        const sequences = await drawers(await define({ start: first, blockSize }), 6);
        const drawn = await Promise.all(sequences.map((each) => each.batch(3 * blockSize)));
        expect(inOrder(drawn.flat())).toEqual(range(first, 18 * blockSize));
        await closeAll(sequences);
      }
    });

    it('fifteen users draw a thousand each, one by one, without a repeated id or a gap', async () => {
      const name = await define({ blockSize: 50 });
      const sequences = await drawers(name, 15);
      const drawn = await Promise.all(
        sequences.map(async (sequence) => {
          const ids: bigint[] = [];
          for (let i = 0; i < 1000; i++) ids.push(await sequence.next());
          return ids;
        }),
      );
      expect(inOrder(drawn.flat())).toEqual(range(1, 15_000));
      for (const ids of drawn) expect(ids).toEqual(inOrder(ids));
    });

    it('fetching ahead shares no id either, and closing gives back the end', async () => {
      const name = await define();
      const sequences = await Promise.all(users.slice(0, 4).map((each) => each.get(name)));
      const drawn = await Promise.all(sequences.map((each) => each.batch(2500)));
      expect(new Set(drawn.flat()).size).toBe(10_000);
      await closeAll(sequences);
      const last = await users[5]!.get(name);
      const [id] = await last.batch(1);
      await last.close();
      expect((await users[6]!.describe(name)).next).toBe(id! + 1n);
    });
  });
}
