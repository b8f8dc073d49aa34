import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packArray, unpackArrays } from '../../../../src/encoding/message-pack.ts';
import type { ReshardContext } from '../../../../src/shard/reshard/context.ts';
import { allOf, eachLetter, isAll, newBatch, text } from '../../../../src/shard/reshard/move/move-batch.ts';
import { ProgressTracker, type ReshardProgress } from '../../../../src/shard/reshard/move/progress.ts';
import { TakenValues } from '../../../../src/shard/reshard/move/taken-values.ts';

const bytes = (value: string) => new TextEncoder().encode(value);
const turns = async () => {
  for (let i = 0; i < 20; i++) await null;
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('Values between TAKE and DROP', () => {
  const group = (keys: string[], values: string[], expiries = '') => ({
    ...{ keys, blocks: packArray(values.map(bytes)), digests: '', expiries, bytes: 9 },
  });

  it('of a whole group go on as they came', () => {
    const values = new TakenValues();
    const one = group(['a', 'b'], ['1', '22']);
    values.groups.push(one);
    expect(values.keys).toBe(one.keys);
    expect(values.payloadOf(values.keys)).toBe(one);
  });

  it('of some keys are packed again, with their expiries', () => {
    const values = new TakenValues();
    values.groups.push(group(['a', 'b', 'c'], ['1', '22', '333'], '1 1000\n3 3000'), group(['d'], ['4444']));
    expect(values.keys).toEqual(['a', 'b', 'c', 'd']);
    const { blocks, expiries } = values.payloadOf(['b', 'c', 'd', 'a']);
    expect(unpackArrays(blocks).map((value) => new TextDecoder().decode(value as Uint8Array))).toEqual([
      '22',
      '333',
      '4444',
      '1',
    ]);
    expect(expiries).toBe('2 3000\n4 1000');
    expect(values.payloadOf(['b']).expiries).toBe('');
    expect(['a', 'c', 'd'].map((key) => values.sizeOf(key))).toEqual([1, 3, 4]);
  });

  it('have the size of what DUMP has answered, if they are not plain', () => {
    const values = new TakenValues();
    const blocks = packArray([[bytes('dump')], bytes('22')]);
    values.groups.push({ ...group(['a', 'b'], []), blocks });
    expect(['a', 'b'].map((key) => values.sizeOf(key))).toEqual([4, 2]);
  });
});

describe('A batch', () => {
  it('begins with nothing', () => {
    const batch = newBatch({} as Parameters<typeof newBatch>[0], ['k'], 4);
    expect(batch).toMatchObject({
      keys: ['k'],
      block: 4,
      putNumber: 0,
      dropNumber: 0,
      orphans: [],
      done: [],
    });
    expect(batch.result).toEqual({
      keys: 0,
      bytes: 0,
      superseded: 0,
      again: [],
      hasChanged: false,
      lost: [],
    });
  });

  it('reads the letters of its keys', () => {
    expect([text(undefined), text(null), text(5), text('')]).toEqual(['', '', '5', '']);
    expect([isAll('t', ''), isAll('t', 'tt'), isAll('t', 'tf'), isAll('t', 'f')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const seen: string[] = [];
    eachLetter(['a', 'b'], 'xy', (key, letter) => void seen.push(`${key as string}${letter}`));
    expect(seen).toEqual(['ax', 'by']);
  });

  it('waits for all of its steps, also after one has failed', async () => {
    let end = () => {};
    const slow = new Promise<void>((resolve) => {
      end = resolve;
    });
    let error: Error | undefined;
    void allOf([slow, Promise.reject(new Error('failed'))]).catch((thrown) => {
      error = thrown;
    });
    await turns();
    expect(error).toBeUndefined();
    end();
    await turns();
    expect(error?.message).toBe('failed');
    await allOf([slow]);
  });
});

describe('Progress', () => {
  const map = (...names: string[]) => ({ nodes: names.map((name) => ({ name, address: `${name}:1` })) });
  const context = { from: map('a', 'b'), to: map('b', 'c') } as unknown as ReshardContext;
  const sorted = (staying: number, leavingCount: number, skipped: string[] = []) => ({
    ...{ staying, leavingCount, leaving: new Map(), skipped: skipped.map((key) => ({ key })) },
  });

  it('tells what was moved, how quickly, and what is left', () => {
    const told: ReshardProgress[] = [];
    const progress = new ProgressTracker(context, (one) => told.push(one));
    progress.expect(60);
    progress.expect(40);
    progress.moved('a:1', 'c:1', { keys: 0, bytes: 0, superseded: 0 });
    vi.advanceTimersByTime(1000);
    progress.scanned(sorted(5, 14, ['x']));
    progress.moved('a:1', 'c:1', { keys: 10, bytes: 700, superseded: 1 });
    vi.advanceTimersByTime(2000);
    progress.moved('b:1', 'c:1', { keys: 5, bytes: 40, superseded: 2 });
    vi.advanceTimersByTime(1);
    progress.moved('a:1', 'c:1', { keys: 3, bytes: 3, superseded: 0 });
    progress.scanned(sorted(100, 0));
    progress.moved('a:1', 'b:1', { keys: 0, bytes: 0, superseded: 0 });
    const [begun, first, second, third, last] = told;
    expect(begun).toEqual({
      ...{ moved: 0, bytes: 0, scanned: 0, total: 100, seconds: 0, rate: 0, left: undefined },
    });
    expect(first).toEqual({ moved: 10, bytes: 700, scanned: 20, total: 100, seconds: 1, rate: 10, left: 4 });
    // Over the last three seconds: the first time is just old enough to count.
    expect(second).toMatchObject({ moved: 15, bytes: 740, rate: 5, seconds: 3 });
    expect(third!.rate).toBeCloseTo((8 / 2001) * 1000, 9);
    expect(last).toMatchObject({ scanned: 120, total: 120, left: 0 });
    expect(progress.totals()).toEqual({
      pairs: [
        { from: 'a', to: 'c', keys: 13, bytes: 703 },
        { from: 'b', to: 'c', keys: 5, bytes: 40 },
      ],
      ...{ moved: 18, bytes: 743, stayed: 105, skipped: 1, skippedKeys: ['x'], unknownTypes: {} },
      ...{ superseded: 3, seconds: 3.001 },
    });
  });

  it('has a rate over the last three seconds, or since the time before if that is longer', () => {
    const rates: number[] = [];
    const progress = new ProgressTracker(context, ({ rate }) => rates.push(rate));
    for (const [wait, keys] of [
      [0, 0],
      [4000, 8],
      [1000, 5],
    ] as const) {
      vi.advanceTimersByTime(wait);
      progress.moved('a:1', 'c:1', { keys, bytes: 0, superseded: 0 });
    }
    expect(rates).toEqual([0, 2, 5]);
  });

  it('tells what is left as soon as a key was looked at and some time has passed', () => {
    const left: (number | undefined)[] = [];
    const progress = new ProgressTracker(context, (one) => left.push(one.left));
    const tell = () => progress.moved('a:1', 'c:1', { keys: 0, bytes: 0, superseded: 0 });
    progress.expect(11);
    vi.advanceTimersByTime(2000);
    tell();
    progress.scanned(sorted(1, 0));
    tell();
    const fresh = new ProgressTracker(context, (one) => left.push(one.left));
    fresh.expect(11);
    fresh.scanned(sorted(1, 0));
    fresh.moved('a:1', 'c:1', { keys: 0, bytes: 0, superseded: 0 });
    expect(left).toEqual([undefined, 20, undefined]);
  });

  it('is counted also if nobody listens', () => {
    const progress = new ProgressTracker(context, undefined);
    progress.moved('a:1', 'c:1', { keys: 1, bytes: 2, superseded: 0 });
    expect(progress.totals()).toMatchObject({ moved: 1, bytes: 2 });
  });
});
