import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Block, StoreError } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gate, LastSource, sequenceAlone, turn } from './support/alone.ts';
import { TestSource } from './support/sources.ts';

const run = (first: bigint, count: number): Block => ({ first, step: 1, count });
const never = new Promise<void>(() => {});

describe('idle ids', () => {
  it('go back after a second, down to a rest, and no look comes after that', async () => {
    const { source, time, timers, policy, fetch, left, handOut } = sequenceAlone(new LastSource());
    await fetch();
    expect(timers).toEqual([{ ms: 1000, background: true }]);
    handOut(5);
    await time.advance(999);
    expect(source.looked).toEqual([]);
    await time.advance(1);
    expect(source.looked).toEqual([run(6n, 95)]);
    expect(source.returned).toEqual([run(26n, 75)]);
    expect([left(), policy.rests]).toEqual([20, [5]]);
    await time.advance(10_000);
    expect([source.looked.length, timers.length]).toEqual([1, 1]);
    handOut(3);
    await fetch();
    expect(policy.starts[1]).toMatchObject({ left: 17, handedOut: 8 });
  });

  it('are those beyond the use of the last second', async () => {
    const { source, time, policy, fetch, left, handOut } = sequenceAlone(new LastSource());
    await fetch();
    handOut(40);
    await time.advance(1000);
    expect(source.returned).toEqual([run(81n, 20)]);
    expect([left(), policy.rests]).toEqual([40, [40]]);
    await time.advance(1000);
    expect([left(), policy.rests]).toEqual([20, [40, 0]]);
  });

  it('are none while all of them were needed in the last second', async () => {
    const { source, time, fetch, handOut } = sequenceAlone(new LastSource());
    await fetch();
    handOut(50);
    await time.advance(1000);
    expect(source.looked).toEqual([]);
    await time.advance(1000);
    expect(source.returned).toEqual([run(71n, 30)]);
  });

  it('go back as one run, if the runs follow each other', async () => {
    const { source, time, fetch, handOut, left } = sequenceAlone(new LastSource());
    await fetch();
    await fetch();
    await time.advance(1000);
    expect(source.looked).toEqual([run(1n, 200)]);
    expect(source.returned).toEqual([run(21n, 180)]);
    source.gate = never;
    expect([handOut(20), left()]).toEqual([20n, 0]);
  });

  it('go back run by run, the last one first, if they do not', async () => {
    const { source, time, fetch, left, handOut } = sequenceAlone(new LastSource());
    await fetch();
    source.allocate = async () => run(501n, 30);
    await fetch();
    await time.advance(1000);
    expect(source.returned).toEqual([run(501n, 30)]);
    expect(left()).toBe(100);
    await time.advance(1000);
    expect(source.returned).toEqual([run(501n, 30), run(21n, 80)]);
    expect([handOut(20), left()]).toEqual([20n, 0]);
  });

  it('leave one id of the last run, if one is needed', async () => {
    const { source, time, policy, fetch, left, handOut } = sequenceAlone(new LastSource());
    policy.lowWater = 0;
    source.allocate = async () => run(1n, 19);
    await fetch();
    source.allocate = async () => run(501n, 30);
    await fetch();
    await time.advance(1000);
    expect(source.looked).toEqual([run(501n, 30)]);
    expect(source.returned).toEqual([run(502n, 29)]);
    expect([left(), handOut(19), handOut(1), left()]).toEqual([20, 19n, 501n, 0]);
  });

  it('are none where the rest is at hand, or where the source cannot tell who was last', async () => {
    const few = sequenceAlone(new LastSource());
    few.policy.blocks = 2;
    await few.fetch();
    expect([few.left(), few.timers]).toEqual([20, []]);
    const other = sequenceAlone(new TestSource());
    await other.fetch();
    expect(other.timers).toEqual([]);
  });

  it('stay while a caller waits and a fetch is under way, until the next look', async () => {
    const { sequence, source, time, policy, fetch, fetched, left } = sequenceAlone(new LastSource());
    await fetch();
    const { opened, open } = gate();
    source.gate = opened;
    const controller = new AbortController();
    const waiting = sequence.batch(1000, { signal: controller.signal }).catch(() => undefined);
    await time.advance(1000);
    controller.abort();
    await waiting;
    expect(sequence.status()).toMatchObject({ wanted: 0, fetching: true });
    await time.advance(1000);
    expect([source.looked, policy.rests, left()]).toEqual([[], [], 100]);
    open();
    await fetched();
    await time.advance(1000);
    expect(source.returned).toEqual([run(21n, 180)]);
  });

  it('stay if a caller begins to wait during the question, until the next look', async () => {
    const { sequence, source, time, policy, fetch } = sequenceAlone(new LastSource());
    await fetch();
    const { opened, open } = gate();
    source.last = async () => {
      source.gate = opened;
      sequence.batch(101).catch(() => undefined);
      return true;
    };
    await time.advance(1000);
    expect([source.looked.length, source.returned]).toEqual([1, []]);
    source.last = async () => true;
    open();
    await turn();
    await time.advance(2000);
    expect(policy.rests[0]).toBe(0);
    expect(source.returned.at(-1)).toMatchObject({ count: 79 });
  });

  it.each<[string, () => Promise<boolean>]>([
    ['another process has allocated since', async () => false],
    ['the source does not tell', async () => undefined as never],
    ['the source fails', () => Promise.reject(new StoreError('away'))],
  ])('stay for good if %s', async (_, last) => {
    const { source, time, fetch, left } = sequenceAlone(new LastSource());
    source.last = last;
    await fetch();
    await time.advance(10_000);
    expect([source.looked.length, source.returned, left()]).toEqual([1, [], 100]);
  });

  it('are looked at again after the next fetch, though the source has failed', async () => {
    const { source, time, fetch } = sequenceAlone(new LastSource());
    source.last = () => Promise.reject(new StoreError('away'));
    await fetch();
    await time.advance(5000);
    expect(source.looked).toHaveLength(1);
    source.last = async () => true;
    await fetch();
    await time.advance(1000);
    expect(source.returned).toEqual([run(21n, 180)]);
  });

  it.each(['fence', 'close'] as const)('are not cut off when %s() comes during the question', async (end) => {
    const { sequence, source, time, fetch } = sequenceAlone(new LastSource());
    await fetch();
    const { opened, open } = gate();
    source.last = () => opened.then(() => true);
    await time.advance(1000);
    const ending = sequence[end]();
    if (end === 'fence') await fetch();
    open();
    await ending;
    await time.advance(10);
    expect(source.looked).toHaveLength(1);
    expect(source.returned).toEqual(end === 'fence' ? [] : [run(1n, 100)]);
  });

  it.each(['next', 'close'] as const)('that go back are waited for by %s()', async (call) => {
    const { sequence, source, time, policy, fetch, left, handOut } = sequenceAlone(new LastSource());
    policy.isAhead = false;
    policy.lowWater = 0;
    await fetch();
    const { opened, open } = gate();
    source.giveBack = async (tail) => {
      source.returned.push(tail);
      await opened;
      return true;
    };
    await time.advance(1000);
    handOut(left());
    const ended = sequence[call]();
    await time.advance(100);
    expect([source.asked.length, source.returned.length]).toEqual([1, 1]);
    open();
    await ended;
    expect(source.asked.length).toBe(call === 'next' ? 2 : 1);
  });
});

describe('a look for idle ids', () => {
  it.each([
    [-1001, 0],
    [-1000, 1],
    [1000, 1],
    [1001, 0],
  ])('is left out if the clock is more than a second wrong: %s ms', async (offset, looks) => {
    const { source, time, clock, fetch } = sequenceAlone(new LastSource());
    await fetch();
    clock.offset = offset;
    await time.advance(1000);
    expect(source.looked).toHaveLength(looks);
    // The next look counts from the clock as it is now.
    await time.advance(1000);
    expect(source.looked).toHaveLength(1);
  });

  it('is due once, however many fetches there are', async () => {
    const { source, time, timers, fetch, handOut } = sequenceAlone(new LastSource());
    await fetch();
    await time.advance(500);
    await fetch();
    expect(timers).toHaveLength(1);
    handOut(1);
    await time.advance(500);
    expect(source.looked).toHaveLength(1);
  });

  it('leaves no timer behind at the end, and none begins during the last question', async () => {
    const { sequence, timers, cancelled, fetch } = sequenceAlone(new LastSource());
    await fetch();
    await sequence.close();
    expect(timers).toHaveLength(1);
    expect(cancelled).toEqual(timers);
    const other = sequenceAlone(new LastSource());
    const { opened, open } = gate();
    other.source.last = () => opened.then(() => true);
    await other.fetch();
    await other.time.advance(1000);
    const closing = other.sequence.close();
    open();
    await closing;
    await other.time.advance(5000);
    expect([other.source.looked.length, other.timers.length]).toEqual([1, 1]);
  });
});

describe('the channel idsmith:sequence', () => {
  const messages: unknown[] = [];
  const listen = (message: unknown) => void messages.push(message);
  beforeEach(() => {
    messages.length = 0;
    subscribe('idsmith:sequence', listen);
  });
  afterEach(() => void unsubscribe('idsmith:sequence', listen));

  it('tells of a source that takes nothing back', async () => {
    const { sequence, fetch } = sequenceAlone({ allocate: async () => run(1n, 5) });
    await fetch();
    await sequence.close();
    expect(messages).toEqual([
      { event: 'fetched', name: 'x', blocks: 10, count: 5, duration: 0 },
      { event: 'given-back', name: 'x', first: 1n, count: 5, returned: false },
      { event: 'closed', name: 'x' },
    ]);
  });

  it('tells of what fails', async () => {
    const { sequence, source, fetch } = sequenceAlone(new TestSource());
    const error = new StoreError('away');
    source.failure = error;
    await expect(sequence.next()).rejects.toBe(error);
    source.failure = undefined;
    await fetch();
    source.giveBack = () => Promise.reject(error);
    await sequence.close();
    expect(messages).toEqual([
      { event: 'fetch-failed', name: 'x', blocks: 10, error },
      { event: 'fetched', name: 'x', blocks: 10, count: 100, duration: 0 },
      { event: 'give-back-failed', name: 'x', first: 1n, count: 100, error },
      { event: 'closed', name: 'x' },
    ]);
  });
});
