import { type Block, type BlockSource, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { on, range, settled, TestSource } from './support/sources.ts';

describe('a source', () => {
  it('may use its block object again', async () => {
    const block = { first: 1n, step: 1, count: 10 };
    let next = 1n;
    const sequence = await on(
      {
        async allocate() {
          block.first = next;
          next += 10n;
          return block;
        },
      },
      3,
    );
    expect(await sequence.batch(35)).toEqual(range(1, 35));
  });

  it('may give back without a promise, and need not be able to', async () => {
    const returned: Block[] = [];
    const allocate = async () => ({ first: 1n, step: 1, count: 10 });
    const giveBack = ((tail: Block) => returned.push(tail) > 0) as never;
    const sequence = await on({ allocate, giveBack });
    await sequence.next();
    await sequence.close();
    expect(returned).toEqual([{ first: 2n, step: 1, count: 9 }]);
    const other = await on({ allocate });
    await other.next();
    await expect(other.close()).resolves.toBeUndefined();
  });

  it('is not asked in the moment of closing', async () => {
    const source = new TestSource();
    const sequence = await on(source, 'adaptive');
    await sequence.next();
    for (let i = 0; i < 6; i++) sequence.take();
    await sequence.close();
    expect(source.asked).toHaveLength(1);
  });

  it.each([
    ['nothing', undefined],
    ['a number for the first id', { first: 1, step: 1, count: 1 }],
    ['no ids', { first: 1n, step: 1, count: 0 }],
    ['a step of 0', { first: 1n, step: 0, count: 1 }],
  ])('that gives %s is refused', async (_, block) => {
    const sequence = await on({ allocate: async () => block as never });
    await expect(sequence.next()).rejects.toThrow('source of sequence "x"');
  });
});

describe('a sequence without ids at hand', () => {
  it('is filled for the next time, also after an outage, unless prefetch is 0', async () => {
    let isAway = true;
    const source = new TestSource();
    const flaky: BlockSource = {
      async allocate(blocks) {
        if (isAway) throw new StoreError('away');
        return source.allocate(blocks);
      },
    };
    const sequence = await on(flaky, 'adaptive');
    expect(sequence.take()).toBeUndefined();
    await settled();
    isAway = false;
    expect(sequence.take()).toBeUndefined();
    await settled();
    expect(sequence.take()).toBe(1n);
    const plain = await on(source, 0);
    plain.take();
    await settled();
    expect(source.asked).toHaveLength(1);
  });
});
