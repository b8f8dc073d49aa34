import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  ClosedError,
  InvalidOptionError,
  layouts,
  memoryStore,
  type NodeWait,
  type Store,
  StoreError,
} from 'idsmith';
import { connect, Ids } from 'idsmith/connect';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { datedBirth, undatedBirth } from '../../src/lease/protocol.ts';

/** A store whose calls fail while `down` is set, and that tells whether it was closed. */
function fragileStore() {
  const inner = memoryStore();
  const state = { down: undefined as Error | undefined, closed: 0 };
  const failing =
    <Args extends unknown[], T>(method: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (state.down) throw state.down;
      return method(...args);
    };
  const store: Store = {
    ...inner,
    listLeases: failing(inner.listLeases),
    swapLease: failing(inner.swapLease),
    describeSequence: failing(inner.describeSequence),
    allocate: failing(inner.allocate),
    close: async () => {
      state.closed++;
    },
  };
  return { store, state };
}

describe('the end of ids', () => {
  it('comes for everything, also when the store fails', async () => {
    const { store, state } = fragileStore();
    const ids = await connect(store);
    const orders = await ids.flakes('orders');
    const events = await ids.locality('events');
    const invoices = await ids.sequence('invoices', { define: {} });
    await invoices.next();
    state.down = new StoreError('away');
    await expect(ids.close()).rejects.toBe(state.down);
    await expect(ids[Symbol.asyncDispose]()).rejects.toBe(state.down);
    expect(() => orders.next()).toThrow(ClosedError);
    expect(() => events.next()).toThrow(ClosedError);
    await expect(invoices.next()).rejects.toThrow(ClosedError);
    for (const call of [
      () => ids.flakes('orders'),
      () => ids.locality('events'),
      () => ids.sequence('invoices'),
      () => ids.sequences.get('invoices'),
    ])
      await expect(call()).rejects.toThrow(ClosedError);
    expect(ids.status()).toMatchObject({ ready: false, leases: [], sequences: [] });
    // The store is the caller's.
    expect(state.closed).toBe(0);
  });

  it('comes for a store that was opened for them, also when a lease cannot be released', async () => {
    const { store, state } = fragileStore();
    const ids = new Ids(store, { label: 'host 1', ownsStore: true });
    await ids.flakes('orders');
    state.down = new StoreError('away');
    await expect(ids.close()).rejects.toBe(state.down);
    expect(state.closed).toBe(1);
  });

  it('is the same for all who ask for it', async () => {
    const ids = await connect('memory:');
    expect(ids.close()).toBe(ids.close());
    await ids.close();
    await expect(ids.store.listSequences()).rejects.toThrow(ClosedError);
  });
});

/** A store that answers a claim only when it is told to, and tells at its end which node ids are held. */
function slowStore() {
  const inner = memoryStore();
  let answer = () => {};
  let claimed = () => {};
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const claim = new Promise<void>((resolve) => {
    claimed = resolve;
  });
  const held = async () =>
    (await inner.listLeases('jflake')).filter(({ owner }) => owner !== null).map(({ id }) => id);
  const ends: number[][] = [];
  const store: Store = {
    ...inner,
    async swapLease(...args) {
      const done = await inner.swapLease(...args);
      claimed();
      await gate;
      return done;
    },
    close: async () => {
      ends.push(await held());
    },
  };
  return { store, answer, claim, held, ends };
}

describe('a claim on its way', () => {
  it('is freed before the store is closed', async () => {
    const { store, answer, claim, ends } = slowStore();
    const ids = new Ids(store, { label: 'host 1', ownsStore: true });
    const orders = ids.flakes('orders');
    orders.catch(() => undefined);
    await claim;
    const closing = ids.close();
    answer();
    await closing;
    expect(ends).toEqual([[]]);
    await expect(orders).rejects.toThrow(ClosedError);
  });

  it('is freed before the store is closed, also when its caller has given up and another one has it', async () => {
    const { store, answer, claim, ends } = slowStore();
    const ids = new Ids(store, { label: 'host 1', ownsStore: true });
    const controller = new AbortController();
    const first = ids.flakes('orders', { signal: controller.signal });
    first.catch(() => undefined);
    await claim;
    controller.abort('stop');
    const second = new AbortController();
    const next = ids.flakes('orders', { signal: second.signal });
    second.abort('stop, too');
    await expect(next).rejects.toBe('stop, too');
    const closing = ids.close();
    answer();
    await closing;
    expect(ends).toEqual([[]]);
    await expect(first).rejects.toBe('stop');
  });

  it('leaves nothing held when its caller gives up at the moment the lease is there', async () => {
    const store = memoryStore();
    const ids = await connect(store);
    const controller = new AbortController();
    const giveUp = () => controller.abort('stop');
    subscribe('idsmith:lease', giveUp);
    const first = ids.flakes('orders', { signal: controller.signal });
    await expect(first.finally(() => unsubscribe('idsmith:lease', giveUp))).rejects.toBe('stop');
    expect(await store.listLeases('jflake')).not.toContainEqual(
      expect.objectContaining({ owner: expect.any(String) }),
    );
    (await ids.flakes('orders')).next();
    expect(ids.status()).toMatchObject({ ready: true, leases: [{ namespace: 'jflake', names: ['orders'] }] });
    await ids.close();
    expect((await store.listLeases('jflake')).filter(({ owner }) => owner !== null)).toEqual([]);
  });
});

describe('a signal', () => {
  it('ends the wait for a sequence, which others go on to wait for', async () => {
    const inner = memoryStore();
    await inner.defineSequence({ name: 'x' });
    let answer: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ids = await connect({
      ...inner,
      describeSequence: (name) => gate.then(() => inner.describeSequence(name)),
    });
    const controller = new AbortController();
    const { signal } = controller;
    const [given, plain] = [ids.sequence('x', { signal }), ids.sequence('x')];
    const defined = ids.sequence('x', { signal, define: {} });
    controller.abort('stop');
    await expect(given).rejects.toBe('stop');
    await expect(defined).rejects.toBe('stop');
    await expect(ids.sequence('x', { signal })).rejects.toBe('stop');
    answer();
    expect(await (await plain).next()).toBe(1n);
    await ids.close();
  });

  it('must be one', async () => {
    const ids = await connect('memory:');
    const wrong = ids.sequence('x', { define: {}, signal: 5 as never });
    await expect(wrong).rejects.toThrow('signal must be an AbortSignal, not 5');
    expect(await ids.sequences.list()).toEqual([]);
    await ids.close();
  });
});

describe('the state of ids', () => {
  it('is not ready while the last acquisition of a namespace has failed', async () => {
    const { store, state } = fragileStore();
    const ids = await connect(store);
    state.down = new StoreError('away');
    await expect(ids.flakes('orders')).rejects.toBe(state.down);
    const missing = [
      { family: 'flake', namespace: 'jflake', names: ['orders'], instance: '', error: state.down },
    ];
    const before = { ready: false, leases: [], sequences: [], lastError: state.down };
    expect(ids.status()).toMatchObject({ ...before, missing });
    state.down = undefined;
    // Neither the mistake of a caller nor one who gives up tells anything about the store.
    await expect(ids.flakes('x', { ttl: -1 })).rejects.toThrow('ttl');
    await expect(ids.locality('x', { signal: AbortSignal.abort('stop') })).rejects.toBe('stop');
    (await ids.flakes('orders')).next();
    expect(ids.status()).toMatchObject({ ready: true, leases: [{ namespace: 'jflake', names: ['orders'] }] });
    await ids.close();
  });

  it('says what is waited for, how long, and how many node ids are taken', async () => {
    const time = new FakeTime();
    const store: Store = {
      ...memoryStore(),
      durable: false,
      maxTtl: 60_000,
      now: async () => time.now,
    };
    const ids = await connect(store);
    const waits: NodeWait[] = [];
    const clock = time.clock();
    const orders = ids.flakes('orders', { clock, timer: time, onWait: (wait) => waits.push(wait) });
    await time.advance(0);
    const { missing, ready } = ids.status();
    expect(ready).toBe(false);
    const name = { family: 'flake', namespace: 'jflake', names: ['orders'], instance: '' };
    const until = time.now + (waits[0]?.ms as number);
    expect(missing).toEqual([{ ...name, wait: { ...waits[0], until } }]);
    expect(waits).toMatchObject([{ reason: 'new-namespace', taken: 0, size: 512 }]);
    await time.advance(82_000);
    (await orders).next();
    expect(ids.status()).toMatchObject({ ready: true, missing: [] });
    await ids.close();
  });

  it('names the node ids that are taken when none is left', async () => {
    const layout = layouts.jflake;
    const store = memoryStore();
    const now = Date.now();
    for (let id = 0; id < layout.nodes; id++)
      await store.swapLease('jflake', undefined, {
        id,
        owner: 'x',
        epoch: 1,
        fence: now + 3_600_000,
        expiresAt: now + 3_600_000,
        label: '',
      });
    const ids = await connect(store);
    await expect(ids.flakes('orders')).rejects.toMatchObject({ taken: 512, size: 512 });
    const [missing] = ids.status().missing;
    expect(missing?.error).toMatchObject({ code: 'LEASES_EXHAUSTED', taken: 512, size: 512 });
    await ids.close();
  });

  it('is not ready while a namespace refuses what the process needs', async () => {
    const store = memoryStore();
    const first = await connect(store);
    await first.flakes('orders', { namespace: 'x', layout: layouts.jflake });
    const ids = await connect(store);
    await expect(ids.flakes('orders', { namespace: 'x', layout: layouts.snowflake })).rejects.toThrow(
      'has ids of the layout',
    );
    expect(ids.status()).toMatchObject({ ready: false, lastError: expect.any(InvalidOptionError) });
    await ids.flakes('orders', { namespace: 'x', layout: layouts.jflake });
    expect(ids.status().ready).toBe(true);
    await Promise.all([first.close(), ids.close()]);
  });

  it('is not ready while a namespace refuses the ttl', async () => {
    const store: Store = { ...memoryStore(), durable: false, maxTtl: 5000, now: async () => Date.now() };
    // A client with a lower limit has founded the namespace.
    const birth = undatedBirth('founder');
    await store.swapLease('locality', undefined, datedBirth(birth, Date.now(), 1000, 0, 0));
    const ids = await connect(store);
    await expect(ids.locality('orders', { ttl: 5000 })).rejects.toThrow('ttl must be at most 1000');
    expect(ids.status().ready).toBe(false);
    await ids.close();
  });

  it('shows the ids at hand of sequences and their last error, which does not make them unready', async () => {
    const { store, state } = fragileStore();
    const ids = await connect(store);
    const invoices = await ids.sequence('invoices', { define: { blockSize: 5 }, prefetch: 0 });
    await invoices.next();
    expect(ids.status().sequences).toEqual([
      { name: 'invoices', state: 'open', available: 4, wanted: 0, fetching: false },
    ]);
    await invoices.batch(4);
    state.down = new StoreError('away');
    await expect(invoices.next()).rejects.toBe(state.down);
    expect(ids.status()).toMatchObject({
      ready: true,
      sequences: [{ name: 'invoices', available: 0, lastError: state.down }],
    });
    state.down = undefined;
    expect(await invoices.next()).toBe(6n);
    expect(ids.status().sequences[0]).not.toHaveProperty('lastError');
    await invoices.close();
    expect(ids.status().sequences).toEqual([]);
    await ids.close();
  });
});
