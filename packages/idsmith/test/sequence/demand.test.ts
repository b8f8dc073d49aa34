import { memoryStore, Sequences, type Store } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { on, range, sequenceOf, TestSource } from './support/sources.ts';

const BLOCK = 20;
/** The ids that a store of this kind has given, without those that came back. */
const takenFrom = async (store: Store) => Number((await store.describeSequence('orders')).next) - 1;

/** A sequence on fake time, in a store that counts allocations and answers after `latency` ms. */
async function timed(latency = 1) {
  const time = new FakeTime();
  const store = memoryStore();
  const counts = { fetches: 0, describes: 0, returns: 0 };
  const { allocate, describeSequence, giveBack } = store;
  store.allocate = async (...question) => {
    counts.fetches++;
    await new Promise<void>((resolve) => time.after(latency, resolve));
    return allocate(...question);
  };
  // The first tail takes longer than the next.
  store.giveBack = async (...question) => {
    if (counts.returns++ === 0) await new Promise<void>((resolve) => time.after(5, resolve));
    return (await giveBack?.(...question)) ?? false;
  };
  store.describeSequence = (name) => {
    counts.describes++;
    return describeSequence(name);
  };
  const sequences = new Sequences(store, { clock: time.clock(), timer: time });
  await sequences.define('orders', { blockSize: BLOCK });
  const sequence = await sequences.get('orders');
  return { time, store, counts, sequences, sequence };
}

/** Draws `perMs` ids in each millisecond, or waits until they come. */
async function draw({ time, sequence }: Awaited<ReturnType<typeof timed>>, perMs: number, ms: number) {
  const ids: bigint[] = [];
  for (let i = 0; i < ms; i++) {
    let isWaiting = true;
    const batch = sequence.batch(perMs).finally(() => {
      isWaiting = false;
    });
    do {
      await time.advance(1);
      await eventLoopTurn();
    } while (isWaiting);
    ids.push(...(await batch));
  }
  return ids;
}

const eventLoopTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('callers that wait', () => {
  it('200 batches of 100 at once share one fetch', async () => {
    const source = new TestSource(BLOCK);
    const sequence = await on(source, 'adaptive');
    await sequence.next();
    const before = source.asked.length;
    const batches = await Promise.all(Array.from({ length: 200 }, () => sequence.batch(100)));
    expect(batches.flat()).toEqual(range(2, 20_001));
    expect(source.asked.length - before).toBeLessThanOrEqual(3);
  });

  it('batches of 100 in a loop need at most one statement for 20 calls', async () => {
    const { time, counts, sequence } = await timed();
    for (let i = 0; i < 1000; i++) {
      let isWaiting = true;
      const batch = sequence.batch(100).finally(() => {
        isWaiting = false;
      });
      await eventLoopTurn();
      while (isWaiting) await time.advance(1);
      expect(await batch).toHaveLength(100);
    }
    expect(counts.fetches / 1000).toBeLessThanOrEqual(0.05);
  });

  it('are served in the order in which they came, a single id among batches', async () => {
    const sequence = await on(new TestSource(BLOCK), 'adaptive');
    const order: string[] = [];
    const seen = (what: string) => (ids: bigint | bigint[]) => {
      order.push(what);
      return [ids].flat();
    };
    const calls = [
      sequence.batch(500).then(seen('batch 1')),
      sequence.next().then(seen('next 2')),
      sequence.batch(3).then(seen('batch 3')),
      sequence.next().then(seen('next 4')),
    ];
    const ids = (await Promise.all(calls)).flat();
    expect(ids).toEqual(range(1, 505));
    expect(order.sort()).toEqual(['batch 1', 'batch 3', 'next 2', 'next 4']);
  });

  it('wait for nobody who comes later: one id beside 50 loops of batches', async () => {
    const source = new TestSource(BLOCK);
    const sequence = await on(source, 'adaptive');
    let isOver = false;
    let served = 0;
    const loops = Array.from({ length: 50 }, async () => {
      while (!isOver) {
        await sequence.batch(100);
        served++;
      }
    });
    const first = sequence.next();
    const second = first.then(() => [served, sequence.next()] as const);
    const [before, id] = await second;
    await id;
    isOver = true;
    expect(before).toBeLessThanOrEqual(50);
    // Those who were in line before the second id, and those whom the same answer served.
    expect(served).toBeLessThanOrEqual(before + 100);
    await Promise.all(loops);
  });

  it('prefetch 0 takes one block after the other, however many wait', async () => {
    const source = new TestSource(BLOCK);
    const sequence = await on(source, 0);
    await Promise.all(Array.from({ length: 10 }, () => sequence.batch(100)));
    expect(source.asked).toEqual(Array(50).fill(1));
    expect(sequence.status().available).toBe(0);
  });
});

describe('the ids at hand', () => {
  it('after a burst of 100,000 are two blocks at most', async () => {
    const { store, sequence } = await sequenceOf({ blockSize: BLOCK }, 'adaptive');
    const ids = await Promise.all(Array.from({ length: 100_000 }, () => sequence.next()));
    expect(ids).toEqual(range(1, 100_000));
    await eventLoopTurn();
    expect(await takenFrom(store)).toBeLessThanOrEqual(100_000 + 2 * BLOCK);
  });

  it.each([
    [1, 100],
    [10, 1000],
    [1, 1000],
    [40, 200],
  ])('at %s ms a fetch and %s ids a millisecond last for 30 ms or six fetches', async (latency, rate) => {
    const at = await timed(latency);
    for (let i = 0; i < 40; i++) {
      await draw(at, rate, 10);
      const most = 1.5 * rate * Math.max(20, 4 * latency);
      // The time that the drawing waits for the store is not counted.
      expect(at.sequence.status().available).toBeLessThanOrEqual(most * 1.1 + 2 * BLOCK);
    }
  });

  it('go back when the demand falls, down to two blocks, and the sequence goes on after them', async () => {
    const at = await timed();
    const ids = await draw(at, 1000, 100);
    expect(at.sequence.status().available).toBeGreaterThan(5000);
    await at.time.advance(5000);
    expect(at.sequence.status().available).toBeLessThanOrEqual(2 * BLOCK);
    expect(await takenFrom(at.store)).toBe(ids.length + at.sequence.status().available);
    const { describes } = at.counts;
    await at.time.advance(60_000);
    expect(at.counts.describes).toBe(describes);
    const more = await draw(at, 10, 30);
    expect([...ids, ...more]).toEqual(range(1, ids.length + 300));
  });

  it('stay while they are used, and go down with the demand', async () => {
    const at = await timed();
    await draw(at, 1000, 100);
    for (let seconds = 1; seconds <= 5; seconds++) {
      // A hundred ids a second.
      for (let ms = 0; ms < 1000; ms += 10) {
        at.sequence.take();
        await at.time.advance(10);
      }
      if (seconds > 1) expect(at.sequence.status().available).toBeLessThanOrEqual(100 + 2 * BLOCK);
    }
  });

  it('stay at hand if somebody has allocated since: none is lost', async () => {
    const at = await timed();
    const ids = await draw(at, 1000, 100);
    const { available } = at.sequence.status();
    const other = await new Sequences(at.store).get('orders', { prefetch: 0 });
    const theirs = other.next();
    await at.time.advance(5000);
    expect(at.sequence.status().available).toBe(available);
    const more = await at.sequence.batch(available);
    const all = [...ids, ...more, await theirs];
    expect(new Set(all).size).toBe(all.length);
    expect(more.at(-1)).toBe((await theirs) - 1n);
  });

  it('are never handed out after they went back, whoever draws in that moment', async () => {
    let met = 0;
    for (let steps = 0; steps < 60; steps++) {
      const at = await timed();
      const ids = await draw(at, 1000, 25);
      await at.time.advance(1000);
      const { available } = at.sequence.status();
      const passing = at.time.advance(1000);
      for (let i = 0; i < steps; i++) await undefined;
      const [ours, taken] = [at.sequence.batch(available), at.sequence.take()];
      if (at.counts.returns > 0) met++;
      await passing;
      const other = await new Sequences(at.store).get('orders', { prefetch: 0 });
      const theirs = other.batch(3000);
      for (let ms = 0; ms < 300; ms++) await at.time.advance(1);
      const all = [...ids, ...(await ours), ...(await theirs), ...(taken === undefined ? [] : [taken])];
      for (let id = at.sequence.take(); id !== undefined; id = at.sequence.take()) all.push(id);
      expect(new Set(all).size).toBe(all.length);
    }
    expect(met).toBeGreaterThan(0);
  });

  it('stay after a pause of the process, which may be a copy', async () => {
    const at = await timed();
    await draw(at, 1000, 100);
    const { available } = at.sequence.status();
    await at.time.advance(950); // the first look: all of it was needed in that second
    at.time.now += 3_600_000;
    await at.time.advance(500);
    expect(at.sequence.status().available).toBe(available);
    await at.time.advance(3000);
    expect(at.sequence.status().available).toBeLessThanOrEqual(2 * BLOCK);
  });

  it('stay with a number of blocks, and with a source that cannot tell who was last', async () => {
    const source = new TestSource(BLOCK);
    const time = new FakeTime();
    const sequences = new Sequences(memoryStore(), { clock: time.clock(), timer: time });
    for (const [name, prefetch] of [
      ['a', 500],
      ['b', 'adaptive'],
    ] as const) {
      const sequence = await sequences.get(name, { source, prefetch });
      await sequence.batch(1000);
      await eventLoopTurn();
      const { available } = sequence.status();
      await time.advance(10_000);
      expect(sequence.status().available).toBe(available);
    }
    expect(source.returned).toEqual([]);
  });

  it('go back, all of them, when the sequence is closed in that moment', async () => {
    let met = 0;
    for (let steps = 0; steps < 60; steps++) {
      const at = await timed();
      const ids = await draw(at, 1000, 25);
      await at.time.advance(1000);
      const { available } = at.sequence.status();
      const passing = at.time.advance(1000);
      for (let i = 0; i < steps; i++) await undefined;
      if (at.sequence.status().available < available) met++;
      const closing = at.sequence.close();
      await passing;
      await at.time.advance(100);
      await closing;
      expect(await takenFrom(at.store)).toBe(ids.length);
    }
    expect(met).toBeGreaterThan(0);
  });

  it('go back before more are fetched: the store is not asked for both at once', async () => {
    const time = new FakeTime();
    const source = new TestSource(BLOCK);
    const log: string[] = [];
    let answer = (_: boolean) => {};
    const sequence = await new Sequences(memoryStore(), { clock: time.clock(), timer: time }).get('x', {
      source: {
        allocate: (blocks) => {
          log.push('allocate');
          return source.allocate(blocks);
        },
        isLast: async () => true,
        giveBack: () => {
          log.push('give back');
          return new Promise((resolve) => {
            answer = resolve;
          });
        },
      },
    });
    // The first block tells its size. The batch is abandoned, so that its ids stay at hand.
    await sequence.next();
    const controller = new AbortController();
    const batch = sequence.batch(1000, { signal: controller.signal });
    await undefined;
    controller.abort();
    await expect(batch).rejects.toThrow();
    await time.advance(10_000);
    expect(sequence.status().available).toBe(2 * BLOCK);
    const ids = sequence.batch(100);
    await time.advance(10);
    expect(log).toEqual(['allocate', 'allocate', 'give back']);
    answer(true);
    expect(await ids).toHaveLength(100);
    expect(log.slice(3)).toContain('allocate');
  });
});
