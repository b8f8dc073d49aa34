import type { Block } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { IdBuffer } from '../../src/sequence/block.ts';

const run = (first: bigint, count: number, step = 1): Block => ({ first, step, count });

function bufferOf(...runs: Block[]) {
  const buffer = new IdBuffer();
  for (const each of runs) buffer.push(each);
  return buffer;
}

describe('the next run', () => {
  it('is none, or a whole one', () => {
    expect(bufferOf().shift()).toBeUndefined();
    const buffer = bufferOf(run(1n, 100), run(501n, 7));
    expect([buffer.count, buffer.shift(), buffer.count]).toEqual([107, run(1n, 100), 7]);
    expect([buffer.shift(), buffer.count, buffer.shift()]).toEqual([run(501n, 7), 0, undefined]);
  });

  it.each([3 * 2 ** 27, -3 * 2 ** 27])('with the step %s comes in parts of 2^30 at most', (step) => {
    const buffer = bufferOf(run(0n, 5, step));
    const parts = [buffer.shift(), buffer.shift(), buffer.shift(), buffer.shift()];
    const first = (skipped: number) => BigInt(step) * BigInt(skipped);
    expect(parts).toEqual([run(0n, 2, step), run(first(2), 2, step), run(first(4), 1, step), undefined]);
  });

  it('with a longer step has one id', () => {
    const buffer = bufferOf(run(0n, 2, 2 ** 31));
    expect([buffer.shift(), buffer.count]).toEqual([run(0n, 1, 2 ** 31), 1]);
    expect([buffer.shift(), buffer.count]).toEqual([run(2n ** 31n, 1, 2 ** 31), 0]);
  });
});

describe('the last run', () => {
  it('has all runs in it that follow each other', () => {
    expect(bufferOf().last()).toBeUndefined();
    expect(bufferOf(run(1n, 100), run(101n, 100)).last()).toEqual(run(1n, 200));
    const buffer = bufferOf(run(1n, 100), run(501n, 30), run(531n, 10));
    expect([buffer.last(), buffer.count]).toEqual([run(501n, 40), 140]);
  });

  it('loses its end, or all of itself, and nothing before it', () => {
    expect(bufferOf().cutEnd(5)).toBeUndefined();
    const buffer = bufferOf(run(1n, 100), run(501n, 30));
    expect([buffer.cutEnd(29), buffer.count]).toEqual([run(502n, 29), 101]);
    expect([buffer.cutEnd(50), buffer.count]).toEqual([run(501n, 1), 100]);
    expect([buffer.shift(), buffer.shift()]).toEqual([run(1n, 100), undefined]);
  });
});

describe('an empty buffer', () => {
  it('is left behind by those who take all runs', () => {
    const buffer = bufferOf(run(1n, 100), run(501n, 30));
    expect(buffer.clear()).toEqual([run(1n, 100), run(501n, 30)]);
    expect([buffer.count, buffer.shift(), buffer.clear()]).toEqual([0, undefined, []]);
  });
});
