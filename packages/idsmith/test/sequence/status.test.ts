import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { memoryStore, SequenceExhaustedError, Sequences, StoreError } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { on, sequenceOf, settled, TestSource } from './support/sources.ts';

describe('status()', () => {
  it('shows the ids at hand, what is waited for, and a fetch under way', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    expect(sequence.status()).toEqual({
      name: 'x',
      state: 'open',
      available: 0,
      wanted: 0,
      fetching: false,
    });
    let open = () => {};
    source.gate = new Promise((resolve) => {
      open = resolve;
    });
    const waiting = [sequence.next(), sequence.batch(4)];
    expect(sequence.status()).toMatchObject({ available: 0, wanted: 5, fetching: true });
    open();
    await Promise.all(waiting);
    expect(sequence.status()).toMatchObject({ available: 5, wanted: 0, fetching: false });
  });

  it('shows the error of the last fetch until one succeeds, and works after close()', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    source.failure = new StoreError('away');
    await expect(sequence.next()).rejects.toThrow('away');
    expect(sequence.status().lastError).toBe(source.failure);
    source.failure = undefined;
    await sequence.next();
    expect(sequence.status()).not.toHaveProperty('lastError');
    await sequence.close();
    expect(sequence.status()).toMatchObject({ state: 'closed', available: 0, fetching: false });
  });

  it('of the factory is that of all sequences that are open', async () => {
    const { sequences, sequence } = await sequenceOf();
    await sequences.define('more');
    await (await sequences.get('more', { prefetch: 0 })).next();
    expect(sequences.status().map(({ name, available }) => [name, available])).toEqual([
      ['orders', 0],
      ['more', 19],
    ]);
    await sequence.close();
    expect(sequences.status().map(({ name }) => name)).toEqual(['more']);
  });
});

describe('the channel idsmith:sequence', () => {
  let messages: Record<string, unknown>[] = [];
  const listen = (message: unknown) => messages.push(message as Record<string, unknown>);
  beforeEach(() => {
    messages = [];
    subscribe('idsmith:sequence', listen);
  });
  afterEach(() => void unsubscribe('idsmith:sequence', listen));

  it('tells of fetches, tails that go back, and the end', async () => {
    const sequence = await on(new TestSource());
    await sequence.batch(12);
    await sequence.close();
    const duration = expect.any(Number);
    expect(messages).toEqual([
      { event: 'fetched', name: 'x', blocks: 1, count: 10, duration },
      { event: 'fetched', name: 'x', blocks: 1, count: 10, duration },
      { event: 'given-back', name: 'x', first: 13n, count: 8, returned: true },
      { event: 'closed', name: 'x' },
    ]);
  });

  it('tells of failures, and of the end of a sequence', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    source.failure = new StoreError('away');
    await expect(sequence.next()).rejects.toThrow('away');
    const sequences = new Sequences(memoryStore());
    await sequences.define('short', { max: 5 });
    const short = await sequences.get('short');
    await expect(short.next()).rejects.toThrow(SequenceExhaustedError);
    expect(messages).toEqual([
      { event: 'fetch-failed', name: 'x', blocks: 1, error: source.failure },
      { event: 'exhausted', name: 'short', blocks: 1, error: expect.any(SequenceExhaustedError) },
    ]);
  });

  it('tells of tails that are lost', async () => {
    const source = new TestSource();
    const failure = new StoreError('away');
    source.giveBack = async () => {
      throw failure;
    };
    const sequence = await on(source);
    await sequence.next();
    await settled();
    messages = [];
    await sequence.close();
    expect(messages[0]).toEqual({
      event: 'give-back-failed',
      name: 'x',
      first: 2n,
      count: 9,
      error: failure,
    });
    expect(sequence.status()).toMatchObject({ state: 'closed', lastError: failure });
  });
});
