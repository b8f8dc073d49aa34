import {
  type Block,
  InvalidOptionError,
  memoryStore,
  SequenceExhaustedError,
  Sequences,
  StoreError,
} from 'idsmith';
import { describe, expect, it } from 'vitest';
import { withOrigin } from '../../src/sequence/block.ts';
import { gate, LastSource, sequenceAlone, turn } from './support/alone.ts';
import { TestSource } from './support/sources.ts';

const run = (first: bigint, count: number, step = 1): Block => ({ first, step, count });

describe('a fetch', () => {
  it('is planned with the ids at hand, those that are wanted, and those handed out since the last one', async () => {
    const { sequence, policy, time, fetch, handOut } = sequenceAlone(new TestSource());
    const { now } = time;
    await sequence.batch(3);
    handOut(4);
    await fetch();
    handOut(4);
    await fetch();
    expect(policy.starts).toEqual([
      { now, left: 0, wanted: 3, handedOut: 0 },
      { now, left: 93, wanted: 0, handedOut: 7 },
      { now, left: 189, wanted: 0, handedOut: 4 },
    ]);
  });

  it('is measured, and shared by all who need ids meanwhile', async () => {
    const { sequence, policy, source, time } = sequenceAlone(new TestSource());
    source.gate = new Promise((resolve) => time.after(7, resolve));
    const waiting = [sequence.next(), sequence.batch(2)];
    expect([sequence.take(), sequence.status().fetching]).toEqual([undefined, true]);
    await time.advance(7);
    await Promise.all(waiting);
    expect(sequence.status().fetching).toBe(false);
    expect(policy.ends).toEqual([{ duration: 7, blocks: 10, count: 100 }]);
    expect(source.asked).toEqual([10]);
  });

  it('is measured on the clock of the machine where no other one is given', async () => {
    const sequences = new Sequences(memoryStore());
    const sequence = await sequences.get('x', { source: new TestSource() });
    expect(await sequence.next()).toBe(1n);
    await sequences.close();
  });

  it('that failed is remembered until one succeeds', async () => {
    const { sequence, source, policy, fetch, left } = sequenceAlone(new TestSource());
    source.failure = new SequenceExhaustedError('over');
    await expect(sequence.next()).rejects.toBe(source.failure);
    expect(sequence.status().lastError).toBe(source.failure);
    expect(sequence.take()).toBeUndefined();
    await turn();
    expect(source.asked).toHaveLength(2);
    source.failure = undefined;
    await fetch();
    expect([sequence.status().lastError, left(), policy.ends.length]).toEqual([undefined, 100, 1]);
  });

  it('ahead begins once where few ids are left, and never after the end', async () => {
    const { sequence, source, fetch, handOut } = sequenceAlone(new TestSource());
    await fetch();
    handOut(94);
    expect(sequence.status().fetching).toBe(false);
    const { opened, open } = gate();
    source.gate = opened;
    handOut(3);
    await turn();
    expect(source.asked).toEqual([10, 10]);
    open();
    await sequence.close();
    expect(() => sequence.take()).toThrow('is closed');
    await turn();
    expect(source.asked).toEqual([10, 10]);
  });

  it('copies the run, which the source may use again, with its origin', async () => {
    const source = new TestSource();
    const given = { first: 5n, step: 1, count: 4 };
    source.allocate = async () => withOrigin(given, 7);
    const { sequence, fetch } = sequenceAlone(source);
    await fetch();
    given.first = 100n;
    expect(sequence.take()).toBe(5n);
    await sequence.close();
    expect(source.returned[0]).toMatchObject({ first: 6n, origin: 7 });
  });

  it.each([null, undefined, run(1n, 0), { first: 1, step: 1, count: 1 }])('refuses %o', async (given) => {
    const source = new TestSource();
    source.allocate = async () => given as Block;
    const { sequence } = sequenceAlone(source);
    await expect(sequence.next()).rejects.toThrow(InvalidOptionError);
    expect(sequence.status().lastError).toBeInstanceOf(InvalidOptionError);
  });

  it('shows what the source gave', async () => {
    const source = new TestSource();
    source.allocate = async () => run(3n, 0, 2);
    await expect(sequenceAlone(source).sequence.next()).rejects.toThrow('not 3, 2 and 0');
  });
});

describe('fence()', () => {
  it('forgets the ids at hand, which count neither as fetched nor as handed out', async () => {
    const { sequence, policy, source, fetch, left } = sequenceAlone(new TestSource());
    policy.isAhead = false;
    await fetch();
    sequence.fence();
    expect([left(), sequence.take()]).toEqual([0, undefined]);
    await fetch();
    expect(policy.starts[1]).toMatchObject({ left: 0, handedOut: 0 });
    expect(left()).toBe(100);
    expect(source.returned).toEqual([]);
  });

  it('forgets the run that is being fetched', async () => {
    const { sequence, policy, source, beginFetch, fetched, left } = sequenceAlone(new TestSource());
    const { opened, open } = gate();
    source.gate = opened;
    beginFetch();
    await turn();
    sequence.fence();
    open();
    await fetched();
    expect([left(), policy.ends]).toEqual([0, []]);
  });
});

describe('close()', () => {
  it('gives back all that is at hand, the end first, joined where runs follow each other', async () => {
    const { sequence, source, fetch, left, handOut } = sequenceAlone(new TestSource());
    await fetch();
    await fetch();
    source.allocate = async () => run(501n, 10);
    await fetch();
    handOut(10);
    const closing = sequence.close();
    expect(left()).toBe(0);
    await closing;
    expect(source.returned).toEqual([run(501n, 10), run(11n, 190)]);
    expect(left()).toBe(0);
  });

  it('stops where another process has allocated since', async () => {
    const { sequence, source, fetch } = sequenceAlone(new TestSource());
    await fetch();
    source.allocate = async () => run(501n, 10);
    await fetch();
    source.giveBack = async (tail) => {
      source.returned.push(tail);
      return false;
    };
    await sequence.close();
    expect(source.returned).toEqual([run(501n, 10)]);
  });

  it('stops where the store fails, and keeps the error', async () => {
    const { sequence, source, fetch } = sequenceAlone(new TestSource());
    await fetch();
    source.allocate = async () => run(501n, 10);
    await fetch();
    const failure = new StoreError('away');
    source.giveBack = async (tail) => {
      source.returned.push(tail);
      throw failure;
    };
    await sequence.close();
    expect(source.returned).toEqual([run(501n, 10)]);
    expect(sequence.status().lastError).toBe(failure);
  });

  it('waits for the run that is being fetched', async () => {
    const { sequence, source, fetch, beginFetch, handOut } = sequenceAlone(new TestSource());
    await fetch();
    handOut(90);
    const { opened, open } = gate();
    source.gate = opened;
    beginFetch();
    await turn();
    const closing = sequence.close();
    await turn();
    open();
    await closing;
    expect(source.returned).toEqual([run(91n, 110)]);
  });

  it('gives back nothing that was dropped meanwhile, and nothing to a source that takes nothing', async () => {
    const { sequence, source, fetch } = sequenceAlone(new TestSource());
    await fetch();
    const closing = sequence.close();
    sequence.fence();
    await closing;
    expect(source.returned).toEqual([]);
    const other = sequenceAlone({ allocate: async () => run(1n, 5) });
    await other.fetch();
    await expect(other.sequence.close()).resolves.toBeUndefined();
  });

  it('ends the looks for idle ids', async () => {
    const { sequence, source, time, fetch } = sequenceAlone(new LastSource());
    await fetch();
    await sequence.close();
    await time.advance(5000);
    expect(source.looked).toEqual([]);
  });
});
