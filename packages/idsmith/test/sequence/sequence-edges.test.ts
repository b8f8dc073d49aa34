import {
  ClosedError,
  InvalidOptionError,
  memoryStore,
  Sequences,
  StoreError,
  UnsafeIntegerError,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { on, range, settled, TestSource } from './support/sources.ts';
import { gate, LastSource } from './support/supply.ts';

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

describe('iteration', () => {
  it('gets the error of the store', async () => {
    const source = new TestSource();
    source.failure = new StoreError('away');
    const iterator = (await on(source))[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow('away');
    source.failure = undefined;
    expect(await iterator.next()).toEqual({ value: 1n, done: false });
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
