import { memoryStore, Sequences } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { range } from './support/sources.ts';

describe('large steps', () => {
  it.each([
    [300_000_000, 20],
    [-300_000_000, 20],
    [2 ** 29, 9],
    [2 ** 30, 5],
    [2 ** 30 + 1, 5],
    [-(2 ** 31), 5],
    [2 ** 33 - 1, 5],
    [-(2 ** 40), 5],
  ])('of %s give the ids they should, and their end back', async (step, blockSize) => {
    for (const prefetch of [0, 2, 'adaptive'] as const) {
      const sequences = new Sequences(memoryStore());
      await sequences.define('x', { step, blockSize });
      const sequence = await sequences.get('x', { prefetch });
      const ids: bigint[] = [];
      for (let i = 0; i < blockSize * 3; i++)
        ids.push(i % 2 ? await sequence.next() : BigInt(await sequence.nextNumber()));
      expect(ids).toEqual(Array.from({ length: blockSize * 3 }, (_, i) => 1n + BigInt(step) * BigInt(i)));
      await sequence.close();
      expect((await sequences.describe('x')).next).toBe(1n + BigInt(step) * BigInt(blockSize * 3));
    }
  });

  it('a run of 2^31 − 1 ids is given back from the middle', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x', { start: -5, blockSize: 2 ** 31 - 1 });
    const sequence = await sequences.get('x', { prefetch: 1 });
    expect(await sequence.batch(10)).toEqual(range(-5, 4));
    await sequence.close();
    expect((await sequences.describe('x')).next).toBe(5n);
  });

  it('numbers begin where ids that come up from below −2^53 are exact', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x', { start: -(2n ** 53n) - 3n, blockSize: 10 });
    const sequence = await sequences.get('x');
    for (let i = 0; i < 4; i++) {
      await expect(sequence.nextNumber()).rejects.toThrow('2^53');
      await sequence.next();
    }
    expect(await sequence.nextNumber()).toBe(-(2 ** 53) + 1);
  });
});
