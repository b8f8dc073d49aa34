import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidOptionError } from '../../../idsmith/src/errors.ts';
import type { ReshardContext } from '../../src/reshard/context.ts';
import { type MoveOptions, RateLimit, readMoveOptions } from '../../src/reshard/options.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('A limit of the rate', () => {
  it('lets keys pass at that rate, after a tenth of a second that may be caught up on', async () => {
    const limit = new RateLimit(1000);
    const passed: number[] = [];
    const began = performance.now();
    const done = (async () => {
      for (let i = 0; i < 6; i++) {
        await limit.wait(50);
        passed.push(performance.now() - began);
      }
    })();
    await vi.advanceTimersByTimeAsync(500);
    await done;
    expect(passed).toEqual([0, 0, 0, 50, 100, 150]);
  });

  it('is none if it is infinite', async () => {
    const limit = new RateLimit(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 3; i++) await limit.wait(1e9);
    expect(limit.largestBatch).toBe(Number.POSITIVE_INFINITY);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [5000, 500],
    [5001, 501],
  ])('of %d keys a second has batches of at most %d', (rate, batch) => {
    expect(new RateLimit(rate).largestBatch).toBe(batch);
  });

  it('is kept to the millisecond, also after a batch of many seconds', async () => {
    const limit = new RateLimit(10);
    // 100 keys take 10 s, and 100 ms of that are caught up on.
    await limit.wait(100);
    let isOver = false;
    const waiting = limit.wait(1).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(9_899);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
    await waiting;
  });
});

describe('The options of a move', () => {
  const node = { address: 'a:1', node: { ringName: 'a' } };
  const context = () =>
    ({
      sources: new Map([['a:1', node]]),
      targets: new Map(),
      gone: new Set(),
      givingNodes: [node],
      isReversed: false,
    }) as unknown as ReshardContext;
  const read = (options: MoveOptions) => readMoveOptions(context(), options);

  it('have defaults', () => {
    const { rateLimit, ...rest } = read({});
    expect(rateLimit.largestBatch).toBe(Number.POSITIVE_INFINITY);
    expect(rest).toEqual({
      batch: 500,
      onProgress: undefined,
      signal: undefined,
      acceptOlder: [],
      onBegin: expect.any(Function),
      afterStep: undefined,
    });
  });

  it('are taken as they are, with batches that keep to the rate', () => {
    const options = { onProgress() {}, afterStep() {}, signal: new AbortController().signal };
    expect(read({ ...options, batch: 10_000, acceptOlder: ['a'] })).toMatchObject({
      ...options,
      batch: 10_000,
      acceptOlder: ['a:1'],
    });
    expect(read({ batch: 1, rate: 100_000 }).batch).toBe(1);
    expect(read({ batch: 600, rate: 300 }).batch).toBe(30);
    expect(read({ rate: Number.POSITIVE_INFINITY }).batch).toBe(500);
    expect(read({ rate: 0.5 }).batch).toBe(1);
  });

  it.each([
    { batch: 0 },
    { batch: 10_001 },
    { rate: 0 },
    { rate: -1 },
    { rate: '5' },
    { rate: null },
    { onProgress: 5 },
  ])('are refused: %o', (options) => {
    expect(() => read(options as unknown as MoveOptions)).toThrow(InvalidOptionError);
  });

  it('give nodes up', () => {
    const given = context();
    const other = { address: 'b:1', node: { ringName: 'b' } };
    (given.sources as Map<string, unknown>).set('b:1', other);
    readMoveOptions(given, { gone: ['b'] });
    expect([...given.gone]).toEqual(['b:1']);
  });
});
