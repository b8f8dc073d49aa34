import {
  ClosedError,
  InvalidOptionError,
  memoryStore,
  SequenceExhaustedError,
  Sequences,
  StoreError,
  UnsafeIntegerError,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { gate, LastSource } from './support/alone.ts';
import { on, range, sequenceOf, settled, TestSource } from './support/sources.ts';

const MAX = 2n ** 63n - 1n;

describe('handing out', () => {
  it.each([0, 1, 3, 'adaptive'] as const)(
    'ids are consecutive over 50 blocks with prefetch %s',
    async (prefetch) => {
      const { sequence } = await sequenceOf({}, prefetch);
      const ids: bigint[] = [];
      for (let i = 0; i < 1000; i++) ids.push(await sequence.next());
      expect(ids).toEqual(range(1, 1000));
    },
  );

  it('two who share a store are one block apart', async () => {
    const { store, sequence } = await sequenceOf();
    const other = await new Sequences(store).get('orders', { prefetch: 0 });
    expect([await sequence.next(), await other.next()]).toEqual([1n, 21n]);
    expect([await sequence.next(), await other.next()]).toEqual([2n, 22n]);
  });

  it('all who wait share one fetch, and get what they came for in order', async () => {
    const source = new TestSource(10);
    const sequence = await on(source);
    const ids = await Promise.all(Array.from({ length: 10 }, () => sequence.next()));
    expect(ids).toEqual(range(1, 10));
    expect(source.asked).toEqual([1]);
  });

  it('more than a block holds are served by as many fetches as it takes', async () => {
    const source = new TestSource(10);
    const sequence = await on(source);
    const ids = await Promise.all(Array.from({ length: 95 }, () => sequence.next()));
    expect(ids.sort((a, b) => Number(a - b))).toEqual(range(1, 95));
    expect(source.asked).toEqual(Array(10).fill(1));
  });

  it('an adaptive fetch is as large as those who wait need', async () => {
    const source = new TestSource(10);
    const sequence = await on(source, 'adaptive');
    await sequence.next();
    const ids = await Promise.all(Array.from({ length: 1000 }, () => sequence.next()));
    expect(new Set(ids).size).toBe(1000);
    expect(source.asked.length).toBeLessThan(6);
  });

  it('nothing is at hand before the first fetch, and take does not wait for one', async () => {
    const { sequence } = await sequenceOf();
    expect(sequence.take()).toBeUndefined();
    expect(sequence.takeNumber()).toBeUndefined();
    await sequence.next();
    expect([sequence.take(), sequence.takeNumber()]).toEqual([2n, 3]);
  });

  it('take and takeNumber, next and nextNumber, batch and iteration draw from one row of ids', async () => {
    const { sequence } = await sequenceOf({ blockSize: 4 });
    expect(await sequence.nextNumber()).toBe(1);
    expect(sequence.take()).toBe(2n);
    expect(await sequence.batch(5)).toEqual(range(3, 7));
    expect(sequence.takeNumber()).toBe(8);
    const drawn: bigint[] = [];
    for await (const id of sequence) if (drawn.push(id) === 9) break;
    expect(drawn).toEqual(range(9, 17));
  });

  it('descends and steps', async () => {
    const { sequence } = await sequenceOf({ start: 3, step: -3, blockSize: 3 }, 'adaptive');
    expect(await sequence.batch(7)).toEqual([3n, 0n, -3n, -6n, -9n, -12n, -15n]);
    expect(sequence.takeNumber()).toBe(-18);
  });

  it('a batch of none is empty, and asks for nothing', async () => {
    const source = new TestSource();
    expect(await (await on(source)).batch(0)).toEqual([]);
    expect(source.asked).toEqual([]);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 25])('a batch of %s is refused', async (count) => {
    const { sequence } = await sequenceOf();
    await expect(sequence.batch(count)).rejects.toThrow(InvalidOptionError);
  });

  it('six users of three starts and three block sizes share no id', async () => {
    for (const start of [0, -10, -1_000_000_000])
      for (const blockSize of [3, 100, 1000]) {
        const { store } = await sequenceOf({ start, blockSize });
        const users = await Promise.all(
          Array.from({ length: 6 }, () => new Sequences(store).get('orders', { prefetch: 0 })),
        );
        const drawn = await Promise.all(users.map((user) => user.batch(3 * blockSize)));
        const ids = drawn.flat().sort((a, b) => (a < b ? -1 : 1));
        expect(ids).toEqual(range(start, start + 18 * blockSize - 1));
      }
  });
});

describe('large ids', () => {
  it('the last three ids come, and then an error, again and again', async () => {
    const { sequence } = await sequenceOf({ start: MAX - 2n, blockSize: 3 });
    expect(await sequence.batch(3)).toEqual([MAX - 2n, MAX - 1n, MAX]);
    await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
    await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
    expect(sequence.take()).toBeUndefined();
  });

  it('a number is refused past 2^53 − 1, and the id stays at hand', async () => {
    const { sequence } = await sequenceOf({ start: 2n ** 53n - 2n, blockSize: 5 });
    expect(await sequence.nextNumber()).toBe(2 ** 53 - 2);
    expect(sequence.takeNumber()).toBe(2 ** 53 - 1);
    expect(() => sequence.takeNumber()).toThrow(UnsafeIntegerError);
    await expect(sequence.nextNumber()).rejects.toThrow(UnsafeIntegerError);
    expect([sequence.take(), await sequence.next()]).toEqual([2n ** 53n, 2n ** 53n + 1n]);
  });

  it('and so it is below −(2^53 − 1)', async () => {
    const { sequence } = await sequenceOf({ start: -(2n ** 53n) + 1n, step: -1, blockSize: 5 });
    expect(await sequence.nextNumber()).toBe(-(2 ** 53) + 1);
    await expect(sequence.nextNumber()).rejects.toThrow(UnsafeIntegerError);
    expect(await sequence.next()).toBe(-(2n ** 53n));
  });

  it('a run that spans more than 2^53 is exact', async () => {
    const { sequence } = await sequenceOf({ start: -(2n ** 62n), step: 2 ** 52, blockSize: 1500 });
    const ids = await sequence.batch(1500);
    expect(ids).toEqual(Array.from({ length: 1500 }, (_, i) => -(2n ** 62n) + 2n ** 52n * BigInt(i)));
  });
});

describe('fetching ahead', () => {
  it('a number of blocks is kept ahead', async () => {
    const source = new TestSource(10);
    const sequence = await on(source, 2);
    await sequence.next();
    expect(source.asked).toEqual([3]);
    for (let i = 0; i < 10; i++) expect(sequence.take()).toBeDefined();
    await settled();
    expect(source.asked).toEqual([3, 1]);
  });

  it('none is fetched ahead with prefetch 0', async () => {
    const source = new TestSource(10);
    const sequence = await on(source);
    await sequence.batch(10);
    await settled();
    expect(source.asked).toEqual([1]);
  });

  it('adaptive fetches before the block ends, so that take goes on', async () => {
    const source = new TestSource(10);
    const sequence = await on(source, 'adaptive');
    await sequence.next();
    for (let i = 2; i <= 6; i++) sequence.take();
    await settled();
    expect(source.asked.length).toBe(2);
    for (let i = 7; i <= 20; i++) expect(sequence.take()).toBe(BigInt(i));
  });

  it('who only awaits ids does not outrun a fetch that is under way', async () => {
    const source = new TestSource(1000);
    const sequence = await on(source, 'adaptive');
    source.gate = new Promise((resolve) => setImmediate(resolve));
    let starved = 0;
    for (let i = 0; i < 5000; i++) {
      if (i === 600) source.gate = new Promise((resolve) => setImmediate(resolve));
      await sequence.next();
      if (i > 0 && sequence.take() === undefined) starved++;
    }
    expect(starved).toBe(0);
  });

  it('ids at hand are handed out while the source fails, and it is asked again meanwhile', async () => {
    const source = new TestSource(100);
    const sequence = await on(source, 'adaptive');
    await sequence.next();
    source.failure = new StoreError('the database is away');
    for (let i = 2; i <= 100; i++) {
      expect(sequence.take()).toBe(BigInt(i));
      await settled();
    }
    expect(source.asked.length).toBeGreaterThan(3);
    expect(sequence.take()).toBeUndefined();
    await expect(sequence.next()).rejects.toThrow('the database is away');
    source.failure = undefined;
    expect(await sequence.next()).toBe(101n);
  });

  it('a fetch that failed takes nothing from those who come later', async () => {
    const source = new TestSource(4);
    const sequence = await on(source);
    source.failure = new StoreError('away');
    const outcomes = await Promise.allSettled([sequence.next(), sequence.batch(3), sequence.nextNumber()]);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    source.failure = undefined;
    expect(await sequence.batch(3)).toEqual([1n, 2n, 3n]);
  });

  it('a batch that cannot be filled leaves what is at hand', async () => {
    const { sequence } = await sequenceOf({ max: 10, blockSize: 5 });
    await expect(sequence.batch(11)).rejects.toThrow(SequenceExhaustedError);
    expect(await sequence.batch(10)).toEqual(range(1, 10));
  });
});

describe('closing', () => {
  it('gives the unused end back', async () => {
    const { sequences, sequence } = await sequenceOf({}, 'adaptive');
    await sequence.batch(37);
    await sequence.close();
    expect((await sequences.describe('orders')).next).toBe(38n);
    expect(await (await sequences.get('orders')).next()).toBe(38n);
  });

  it('leaves it if somebody has allocated since', async () => {
    const { store, sequence } = await sequenceOf();
    await sequence.next();
    await store.allocate('orders', 1);
    await sequence.close();
    expect((await store.describeSequence('orders')).next).toBe(41n);
  });

  it('gives back what is still being fetched, and the run before it, as one', async () => {
    const source = new TestSource(10);
    const sequence = await on(source, 'adaptive');
    await sequence.batch(4);
    source.gate = settled() as Promise<void>;
    for (let i = 0; i < 3; i++) sequence.take();
    await undefined;
    await sequence.close();
    expect(source.asked).toHaveLength(2);
    expect(source.returned).toEqual([{ first: 8n, step: 1, count: 3 + source.asked[1]! * 10 }]);
  });

  it('ends what is waiting, and everything after', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    source.gate = settled() as Promise<void>;
    const waiting = sequence.next();
    const closing = sequence.close();
    await expect(waiting).rejects.toThrow(ClosedError);
    await closing;
    expect(() => sequence.take()).toThrow(ClosedError);
    expect(() => sequence.takeNumber()).toThrow(ClosedError);
    for (const call of [sequence.next(), sequence.nextNumber(), sequence.batch(1), sequence.batch(0)])
      await expect(call).rejects.toMatchObject({ code: 'CLOSED', message: expect.stringContaining('"x"') });
    for await (const id of sequence) expect(id).toBe('nothing');
    expect(sequence.close()).toBe(sequence.close());
  });

  it('while the store hangs ends those who wait at once', async () => {
    const source = new TestSource();
    source.gate = new Promise(() => {});
    const sequence = await on(source);
    const waiting = [sequence.next(), sequence.batch(500)];
    await settled();
    void sequence.close();
    for (const call of waiting) await expect(call).rejects.toThrow(ClosedError);
  });

  it('is what `await using` does', async () => {
    const { sequences, sequence } = await sequenceOf();
    await sequence.next();
    await sequence[Symbol.asyncDispose]();
    expect((await sequences.describe('orders')).next).toBe(2n);
    expect(() => sequence.take()).toThrow(ClosedError);
  });

  it('gives nothing back after a fence, also when the fence comes meanwhile', async () => {
    const source = new TestSource(10);
    const sequence = await on(source, 'adaptive');
    await sequence.batch(4);
    source.gate = settled() as Promise<void>;
    for (let i = 0; i < 3; i++) sequence.take();
    await undefined;
    const closing = sequence.close();
    sequence.fence();
    await closing;
    expect(source.returned).toEqual([]);
  });

  it('does not fail when the store does: the tail is a gap then', async () => {
    const source = new TestSource();
    source.giveBack = async () => {
      throw new StoreError('away');
    };
    const sequence = await on(source);
    await sequence.next();
    await expect(sequence.close()).resolves.toBeUndefined();
  });
});

describe('iteration', () => {
  it('that waits when the sequence is closed ends', async () => {
    const source = new TestSource(3);
    const sequence = await on(source);
    const ids: bigint[] = [];
    for await (const id of sequence) {
      if (ids.push(id) < 3) continue;
      source.gate = new Promise(() => {});
      setImmediate(() => void sequence.close());
    }
    expect(ids).toEqual([1n, 2n, 3n]);
    expect(source.asked).toEqual([1, 1]);
  });

  it('gets the error of the store', async () => {
    const source = new TestSource();
    source.failure = new StoreError('away');
    const iterator = (await on(source))[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow('away');
    source.failure = undefined;
    expect(await iterator.next()).toEqual({ value: 1n, done: false });
  });
});

describe('fence()', () => {
  it('drops the ids at hand, also those that are being fetched, and goes on with a new block', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    const first = await sequence.next();
    sequence.fence();
    expect(sequence.take()).toBeUndefined();
    const fetching = sequence.next();
    await undefined;
    sequence.fence();
    const second = await fetching;
    expect(second).toBeGreaterThan(first + 1n);
    await sequence.close();
  });

  it('keeps copies of a process from handing out the same ids, and from giving them to others', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x', { blockSize: 10 });
    const sequence = await sequences.get('x', { prefetch: 0 });
    expect(await sequence.next()).toBe(1n);
    sequence.fence();
    await sequence.close();
    const other = await sequences.get('x', { prefetch: 0 });
    expect(await other.next()).toBe(11n);
    await other.close();
  });
});

const never = new Promise<void>(() => {});

const run = (first: bigint, count: number) => ({ first, step: 1, count });

describe('ids at hand', () => {
  it('are drawn at once, also the last ones', async () => {
    const sequence = await on(new TestSource());
    await sequence.next();
    const batch = sequence.batch(9);
    expect(sequence.status().available).toBe(0);
    expect(await batch).toEqual(range(2, 10));
  });

  it('are enough for one more caller', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    await sequence.batch(8);
    expect([await sequence.next({}), await sequence.nextNumber({})]).toEqual([9n, 10]);
    expect(source.asked).toEqual([1]);
  });

  it('are drawn a turn of the event loop later while a fetch is under way', async () => {
    const source = new TestSource();
    const sequence = await on(source, 1);
    await sequence.next();
    source.gate = never;
    for (let i = 0; i < 10; i++) sequence.take();
    expect(sequence.status()).toMatchObject({ available: 9, fetching: true });
    // A single id is handed out at once.
    void sequence.next();
    void sequence.nextNumber();
    expect(sequence.status().available).toBe(7);
    const batch = sequence.batch(2);
    expect(sequence.status().available).toBe(7);
    expect(await batch).toHaveLength(2);
  });

  it('belong to those who wait, as bigints and as numbers', async () => {
    for (const first of [1n, 2n ** 53n]) {
      const source = new TestSource(10, first);
      const sequence = await on(source);
      await sequence.next();
      source.gate = never;
      void sequence.batch(1000).catch(() => undefined);
      expect([sequence.take(), sequence.takeNumber()]).toEqual([undefined, undefined]);
    }
  });

  it('belong to those who wait, also when none of them was handed out', async () => {
    const source = new TestSource(10, 2n ** 53n);
    const sequence = await on(source);
    await expect(sequence.nextNumber()).rejects.toThrow(UnsafeIntegerError);
    expect(() => sequence.takeNumber()).toThrow(UnsafeIntegerError);
    source.gate = never;
    void sequence.batch(1000).catch(() => undefined);
    expect(sequence.takeNumber()).toBeUndefined();
  });

  it('are none before the first fetch, whatever was called', async () => {
    const fenced = await on(new TestSource());
    fenced.fence();
    expect([fenced.takeNumber(), fenced.take()]).toEqual([undefined, undefined]);
    const closed = await on(new TestSource());
    void closed.close();
    expect(() => closed.takeNumber()).toThrow(ClosedError);
    expect(() => closed.take()).toThrow(ClosedError);
  });

  it.each(['take', 'takeNumber'] as const)('that went back are not handed out by %s', async (take) => {
    const time = new FakeTime();
    const source = new LastSource(20);
    const sequences = new Sequences(memoryStore(), { clock: time.clock(), timer: time });
    const sequence = await sequences.get('x', { source });
    await sequence.next();
    const controller = new AbortController();
    const batch = sequence.batch(1000, { signal: controller.signal });
    await undefined;
    controller.abort(new Error('not needed'));
    await expect(batch).rejects.toThrow('not needed');
    await time.advance(10);
    for (let id = 2; id <= 26; id++) expect(Number(sequence[take]())).toBe(id);
    await time.advance(10_000);
    expect(sequence.status().available).toBe(40);
    source.gate = never;
    const ids: bigint[] = [];
    for (let id = sequence[take](); id !== undefined; id = sequence[take]()) ids.push(BigInt(id));
    expect(ids).toEqual(range(27, 66));
    expect(source.returned.at(-1)?.first).toBe(67n);
  });
});

describe('a fetch ahead', () => {
  it('begins when the blocks ahead are all that is left', async () => {
    const source = new TestSource(1);
    const sequence = await on(source, 1);
    await sequence.next();
    expect(source.asked).toEqual([2]);
    sequence.take();
    await settled();
    expect(source.asked).toHaveLength(2);
  });
});

describe('a batch', () => {
  it('has up to 2^24 ids', async () => {
    const source = new TestSource();
    source.gate = never;
    const sequence = await on(source);
    await expect(sequence.batch(2 ** 24 + 1)).rejects.toThrow(InvalidOptionError);
    const largest = expect(sequence.batch(2 ** 24)).rejects.toThrow(ClosedError);
    void sequence.close();
    await largest;
  });
});

describe('close()', () => {
  it.each([
    [10, []],
    [9, [run(10n, 1)]],
    [8, [run(9n, 2)]],
  ])('after %s of 10 ids gives back the rest', async (count, returned) => {
    const source = new TestSource();
    const sequence = await on(source);
    await sequence.batch(count);
    await sequence.close();
    expect(source.returned).toEqual(returned);
  });

  it('ends when the ids are back', async () => {
    const source = new TestSource();
    const { opened, open } = gate();
    source.giveBack = () => opened.then(() => true);
    const sequence = await on(source);
    await sequence.next();
    let isOver = false;
    const closing = sequence.close().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    open();
    await closing;
  });
});
