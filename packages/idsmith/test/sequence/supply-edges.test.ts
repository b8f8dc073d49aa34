import { type Block, InvalidOptionError, SequenceExhaustedError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { withOrigin } from '../../src/sequence/block.ts';
import { Supply } from '../../src/sequence/supply.ts';
import { TestSource } from './support/sources.ts';
import { gate, LastSource, supplyAlone } from './support/supply.ts';

const run = (first: bigint, count: number, step = 1): Block => ({ first, step, count });

describe('the next run', () => {
  it('is none, or a whole one', async () => {
    const { supply } = supplyAlone(new TestSource());
    expect(supply.shift()).toBeUndefined();
    expect([supply.left, supply.isFetching, supply.lowWater, supply.isAhead]).toEqual([0, false, 5, true]);
    await supply.fetch();
    expect(supply.left).toBe(100);
    expect(supply.shift()).toEqual(run(1n, 100));
    expect([supply.left, supply.shift()]).toEqual([0, undefined]);
  });

  it.each([3 * 2 ** 27, -3 * 2 ** 27])('with the step %s comes in parts of 2^30 at most', async (step) => {
    const { supply, policy } = supplyAlone(new TestSource(5, 0n, step));
    policy.blocks = 1;
    await supply.fetch();
    const parts = [supply.shift(), supply.shift(), supply.shift(), supply.shift()];
    const first = (skipped: number) => BigInt(step) * BigInt(skipped);
    expect(parts).toEqual([run(0n, 2, step), run(first(2), 2, step), run(first(4), 1, step), undefined]);
  });

  it('with a longer step has one id', async () => {
    const { supply, policy } = supplyAlone(new TestSource(2, 0n, 2 ** 31));
    policy.blocks = 1;
    await supply.fetch();
    expect(supply.shift()).toEqual(run(0n, 1, 2 ** 31));
    expect(supply.left).toBe(1);
    expect(supply.shift()).toEqual(run(2n ** 31n, 1, 2 ** 31));
    expect(supply.left).toBe(0);
  });
});

describe('a fetch', () => {
  it('is told what is at hand, wanted and handed out since the last one', async () => {
    const { supply, policy, time, hand, handOut } = supplyAlone(new TestSource());
    const now = time.now;
    hand.wanted = 3;
    await supply.fetch();
    handOut(7);
    await supply.fetch();
    handOut(4);
    await supply.fetch();
    expect(policy.starts).toEqual([
      { now, left: 0, wanted: 3, handedOut: 0 },
      { now, left: 93, wanted: 3, handedOut: 7 },
      { now, left: 189, wanted: 3, handedOut: 4 },
    ]);
  });

  it('is measured', async () => {
    const { supply, policy, source, time } = supplyAlone(new TestSource());
    source.gate = new Promise((resolve) => time.after(7, resolve));
    const fetching = supply.fetch();
    expect(supply.isFetching).toBe(true);
    expect(supply.fetch()).toBe(fetching);
    supply.fetchAhead();
    await time.advance(7);
    await fetching;
    expect(supply.isFetching).toBe(false);
    expect(policy.ends).toEqual([{ duration: 7, blocks: 10, count: 100 }]);
    expect(source.asked).toEqual([10]);
  });

  it('is measured on the clock of the machine where no other one is given', async () => {
    const { policy } = supplyAlone(new TestSource());
    const demand = { left: () => 0, rest: () => undefined, cut: () => run(1n, 1), wanted: () => 0 };
    const supply = new Supply({ name: 'x', source: new TestSource(), policy, time: {} }, demand);
    await supply.fetch();
    expect(policy.ends[0]?.duration).toBeGreaterThanOrEqual(0);
  });

  it('that failed is remembered until one succeeds', async () => {
    const { supply, source, policy } = supplyAlone(new TestSource());
    source.failure = new SequenceExhaustedError('over');
    await expect(supply.fetch()).rejects.toBe(source.failure);
    expect(supply.lastError).toBe(source.failure);
    supply.fetchAhead();
    await supply.fetch().catch(() => undefined);
    expect(source.asked).toHaveLength(2);
    source.failure = undefined;
    await supply.fetch();
    expect([supply.lastError, supply.left, policy.ends.length]).toEqual([undefined, 100, 1]);
  });

  it('ahead fetches once, and nothing after the end', async () => {
    const { supply, source } = supplyAlone(new TestSource());
    supply.fetchAhead();
    supply.fetchAhead();
    await supply.fetch();
    expect(source.asked).toEqual([10]);
    await supply.close(undefined);
    supply.fetchAhead();
    await supply.fetch();
    expect(source.asked).toEqual([10]);
  });

  it('copies the run, which the source may use again, with its origin', async () => {
    const source = new TestSource();
    const given = { first: 5n, step: 1, count: 4 };
    source.allocate = async () => withOrigin(given, 7);
    const { supply } = supplyAlone(source);
    await supply.fetch();
    given.first = 100n;
    expect(supply.shift()).toMatchObject({ first: 5n, origin: 7 });
  });

  it.each([null, undefined, run(1n, 0), { first: 1, step: 1, count: 1 }])('refuses %o', async (given) => {
    const source = new TestSource();
    source.allocate = async () => given as Block;
    const { supply } = supplyAlone(source);
    await expect(supply.fetch()).rejects.toThrow(InvalidOptionError);
    expect(supply.lastError).toBeInstanceOf(InvalidOptionError);
  });

  it('tells what the source gave', async () => {
    const source = new TestSource();
    source.allocate = async () => run(3n, 0, 2);
    await expect(supplyAlone(source).supply.fetch()).rejects.toThrow('not 3, 2 and 0');
  });
});

describe('drop()', () => {
  it('forgets the ids at hand, which count neither as fetched nor as handed out', async () => {
    const { supply, policy, source } = supplyAlone(new TestSource());
    await supply.fetch();
    supply.drop();
    expect([supply.left, supply.shift()]).toEqual([0, undefined]);
    await supply.fetch();
    expect(policy.starts[1]).toMatchObject({ left: 0, handedOut: 0 });
    expect(supply.left).toBe(100);
    expect(source.returned).toEqual([]);
  });

  it('forgets the run that is being fetched', async () => {
    const { supply, policy, source } = supplyAlone(new TestSource());
    const { opened, open } = gate();
    source.gate = opened;
    const fetching = supply.fetch();
    await undefined;
    supply.drop();
    open();
    await fetching;
    expect([supply.left, supply.shift(), policy.ends]).toEqual([0, undefined, []]);
  });
});

describe('close()', () => {
  it('gives back all that is at hand, the end first, joined where runs follow each other', async () => {
    const { supply, source, hand } = supplyAlone(new TestSource());
    await supply.fetch();
    await supply.fetch();
    source.allocate = async () => run(501n, 10);
    await supply.fetch();
    hand.run = run(-9n, 10);
    const closing = supply.close(hand.run);
    expect(supply.left).toBe(0);
    await closing;
    expect(source.returned).toEqual([run(501n, 10), run(-9n, 210)]);
    expect([supply.left, supply.shift()]).toEqual([0, undefined]);
  });

  it('stops where somebody has allocated since', async () => {
    const { supply, source } = supplyAlone(new TestSource());
    await supply.fetch();
    source.allocate = async () => run(501n, 10);
    await supply.fetch();
    source.giveBack = async (tail) => {
      source.returned.push(tail);
      return false;
    };
    await supply.close(undefined);
    expect(source.returned).toEqual([run(501n, 10)]);
  });

  it('stops where the store fails, and keeps the error', async () => {
    const { supply, source } = supplyAlone(new TestSource());
    await supply.fetch();
    source.allocate = async () => run(501n, 10);
    await supply.fetch();
    const failure = new StoreError('away');
    source.giveBack = async (tail) => {
      source.returned.push(tail);
      throw failure;
    };
    await supply.close(undefined);
    expect(source.returned).toEqual([run(501n, 10)]);
    expect(supply.lastError).toBe(failure);
  });

  it('waits for what is being fetched', async () => {
    const { supply, source } = supplyAlone(new TestSource());
    const { opened, open } = gate();
    source.gate = opened;
    void supply.fetch();
    await undefined;
    const closing = supply.close(run(-9n, 10));
    await undefined;
    open();
    await closing;
    expect(source.returned).toEqual([run(-9n, 110)]);
  });

  it('gives back nothing that was dropped meanwhile, and nothing to a source that takes nothing', async () => {
    const { supply, source } = supplyAlone(new TestSource());
    await supply.fetch();
    const closing = supply.close(run(-9n, 10));
    supply.drop();
    await closing;
    expect(source.returned).toEqual([]);
    const other = supplyAlone({ allocate: async () => run(1n, 5) } as never);
    await other.supply.fetch();
    await expect(other.supply.close(undefined)).resolves.toBeUndefined();
  });

  it('ends the looks for ids that nobody needs', async () => {
    const { supply, source, time } = supplyAlone(new LastSource());
    await supply.fetch();
    await supply.close(undefined);
    await time.advance(5000);
    expect(source.looked).toEqual([]);
  });
});
