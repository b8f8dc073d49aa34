import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packArray, unpackArrays } from '../../src/redis/message-pack.ts';
import { allOf, eachLetter, isAll, newBatch, TakenValues, text } from '../../src/reshard/key-mover.ts';

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
    keys,
    blocks: packArray(values.map(bytes)),
    digests: '',
    expiries,
    bytes: 9,
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
