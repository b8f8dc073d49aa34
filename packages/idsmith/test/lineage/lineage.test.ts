import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { acquireLease, type Lease, memoryStore, Sequences, StoreError } from 'idsmith';
import { FakeTime, leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sequenceStore } from '../../src/sequence/rows.js';
import { makeStore } from '../../src/stores/make-store.js';
import { type Content, RewindingServer } from './rewinding-store.js';

const NOTHING = new RewindingServer().copy();

let heard: Record<string, unknown>[] = [];
const listen = (message: unknown) => heard.push(message as Record<string, unknown>);
beforeEach(() => {
  heard = [];
  subscribe('idsmith:store', listen);
});
afterEach(() => {
  unsubscribe('idsmith:store', listen);
});

/** The numbers of blocks that were taken. */
async function take(server: RewindingServer, name: string, count: number): Promise<bigint[]> {
  const sequences = new Sequences(server.connect());
  const sequence = await sequences.get(name, { prefetch: 0 });
  const numbers = await sequence.batch(count);
  await sequences.close();
  return numbers;
}

describe('a store that tells its lineage', () => {
  const store = new RewindingServer().connect();
  for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
});

describe('a sequence whose store goes back', () => {
  it('continues beyond everything that was given out', async () => {
    const server = new RewindingServer();
    const sequences = new Sequences(server.connect());
    await sequences.define('orders');
    const before = await take(server, 'orders', 100);
    const replica = server.copy();
    const lost = await take(server, 'orders', 500);
    server.promote(replica);
    const after = await take(server, 'orders', 500);
    expect(new Set([...before, ...lost, ...after]).size).toBe(1100);
    expect(heard).toContainEqual(expect.objectContaining({ event: 'went-back', sequence: 'orders' }));
  });

  it('continues for a process that has been using it all the time', async () => {
    const server = new RewindingServer();
    const sequences = new Sequences(server.connect());
    await sequences.define('orders');
    const sequence = await sequences.get('orders', { prefetch: 0 });
    const replica = server.copy();
    const before = await sequence.batch(200);
    server.promote(replica);
    const after = await sequence.batch(200);
    expect(new Set([...before, ...after]).size).toBe(400);
  });

  it('goes on where it was when nothing was lost, save for the jump', async () => {
    const server = new RewindingServer();
    await new Sequences(server.connect()).define('orders', { max: 99_999n });
    const [first] = await take(server, 'orders', 1);
    server.promote(server.copy());
    const [next] = await take(server, 'orders', 1);
    expect(first).toBe(1n);
    // At most a thousandth of the range.
    expect(next).toBeLessThanOrEqual(first! + 9_300_000_000_000_000n);
    expect(next).toBeGreaterThan(20n);
  });

  it('takes back no ids from before', async () => {
    const server = new RewindingServer();
    const store = server.connect();
    await store.defineSequence({ name: 'orders' });
    const replica = server.copy();
    const block = await store.allocate('orders', 1);
    server.promote(replica);
    const other = server.connect();
    await other.allocate('orders', 1);
    expect(await store.giveBack?.('orders', block)).toBe(false);
  });

  it('is not handed out by a process that has seen more, when the store does not tell', async () => {
    const server = new RewindingServer();
    const store = server.connect();
    await store.defineSequence({ name: 'orders' });
    const replica = server.copy();
    const block = await store.allocate('orders', 2);
    server.restoreSilently(replica);
    const error = await store.allocate('orders', 1).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'STORE_WENT_BACK' });
    expect(heard).toContainEqual(expect.objectContaining({ event: 'went-back', next: 20_001n }));
    const next = await store.allocate('orders', 1);
    expect(next.first).toBe(block.first + 20_000n);
  });

  it('is moved beyond the numbers of others, too, by the first process that has seen more, and once', async () => {
    const server = new RewindingServer();
    const [first, second] = [server.connect(), server.connect()];
    await first.defineSequence({ name: 'orders' });
    await first.allocate('orders', 1);
    const replica = server.copy();
    await first.allocate('orders', 1);
    const { first: last } = await second.allocate('orders', 500);
    server.restoreSilently(replica);
    // Both have an answer before one of them has moved the sequence.
    const found = await Promise.allSettled([first.allocate('orders', 1), second.allocate('orders', 1)]);
    expect(found).toMatchObject(
      found.map(() => ({ status: 'rejected', reason: { code: 'STORE_WENT_BACK' } })),
    );
    const next = await first.allocate('orders', 1);
    expect(next.first).toBe(20_001n);
    expect(next.first).toBeGreaterThan(last + 500n * 20n);
  });

  it('has its ceiling when the store is closed', async () => {
    const server = new RewindingServer();
    const { past, ...rows } = server.rows();
    const write: typeof past.write = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return past.write(...args);
    };
    const sequences = sequenceStore({ ...rows, past: { ...past, write } });
    const store = makeStore('memory', { ...server.connect(), ...sequences });
    await store.defineSequence({ name: 'orders' });
    await store.alterSequence('orders', { next: 100_001n });
    await store.close();
    server.promote(server.copy());
    expect((await server.connect().allocate('orders', 1)).first).toBeGreaterThanOrEqual(120_001n);
  });

  it('has nothing of an earlier sequence of its name', async () => {
    const server = new RewindingServer();
    const store = server.connect();
    await store.defineSequence({ name: 'orders' });
    await store.alterSequence('orders', { next: 5_000_000n });
    await store.removeSequence('orders');
    await store.defineSequence({ name: 'orders', max: 9999n, min: 1n });
    server.promote(server.copy());
    const { first } = await server.connect().allocate('orders', 1);
    expect(first).toBe(500n);
  });

  it('is no loss when a cycle starts over, nor when it ends', async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'rounds', blockSize: 2, min: 1, max: 8, cycle: true });
    const firsts: bigint[] = [];
    for (let i = 0; i < 5; i++) firsts.push((await store.allocate('rounds', 1)).first);
    expect(firsts).toEqual([1n, 3n, 5n, 7n, 1n]);
    await store.alterSequence('rounds', { cycle: false });
    expect((await store.allocate('rounds', 1)).first).toBe(3n);
    expect(heard).not.toContainEqual(expect.objectContaining({ event: 'went-back' }));
  });

  it('is no loss when a cycle ends right before a new round', async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'rounds', blockSize: 4, min: 1, max: 8, cycle: true });
    for (let i = 0; i < 2; i++) await store.allocate('rounds', 1);
    await store.alterSequence('rounds', { cycle: false });
    expect((await store.allocate('rounds', 1)).first).toBe(1n);
  });

  it('is told of when it grows beyond its ceiling', async () => {
    const server = new RewindingServer();
    const store = server.connect();
    await store.defineSequence({ name: 'orders', blockSize: 1 });
    await store.allocate('orders', 1000);
    expect(store.warnings?.()).toEqual([]);
    await store.allocate('orders', 1000);
    expect(store.warnings?.()).toEqual([expect.stringContaining('grows faster than its ceiling')]);
    expect(heard).toContainEqual(expect.objectContaining({ event: 'uncovered', sequence: 'orders' }));
  });
});

describe('a namespace whose store goes back', () => {
  const options = { namespace: 'orders', size: 4, ttl: 300, maxSkew: 100 };

  it('lets a holder go on whose record is there', async () => {
    const server = new RewindingServer();
    const lease = await acquireLease(server.connect(), options);
    const until = lease.until;
    server.promote(server.copy());
    await new Promise<void>((resolve) => lease.once('renewed', resolve));
    expect(lease.until).toBeGreaterThan(until);
    // The namespace carries the new lineage from then on, before anybody claims a node id.
    const store = server.connect();
    const lineage = async () => (await store.listLeases('orders')).find(({ id }) => id === -1)?.label;
    await vi.waitFor(async () => expect(await lineage()).toBe(server.lineage));
    await lease.release();
  });

  it('makes everybody else wait until forgotten windows have ended', async () => {
    const server = new RewindingServer();
    const first = await acquireLease(server.connect(), { ...options, namespace: 'other' });
    const replica = server.copy();
    const lost = await acquireLease(server.connect(), { ...options, ttl: 1000 });
    const { until } = lost;
    server.promote(replica);
    const lease = await acquireLease(server.connect(), options);
    expect(lease.from).toBeGreaterThanOrEqual(until);
    await Promise.all([first, lease, lost].map((each) => each.release()));
  });

  it.each([
    [
      'an older state, and does not tell',
      (server: RewindingServer, copy: Content) => server.restoreSilently(copy),
    ],
    ['nothing, and does not tell', (server: RewindingServer) => server.restoreSilently(NOTHING)],
    ['nothing, and tells another lineage', (server: RewindingServer) => server.promote(NOTHING)],
  ])('makes others wait when a holder finds its own record lost: the store has %s', async (_, goBack) => {
    const world = new FakeTime();
    const server = new RewindingServer(() => world.now);
    const terms = { ...options, timer: world, clock: world.clock() };
    const holder = await acquireLease(server.connect(), terms);
    const replica = server.copy();
    const { until: before } = holder;
    await world.advance(options.ttl / 2);
    expect(holder.until).toBeGreaterThan(before);
    const forgotten = await acquireLease(server.connect(), { ...terms, ttl: 1000, reacquire: false });
    const { until } = forgotten;
    goBack(server, replica);
    const errors: unknown[] = [];
    holder.on('renewal-failed', (error) => errors.push(error));
    await world.advance(options.ttl / 2);
    expect(errors).toMatchObject([{ code: 'STORE_WENT_BACK' }]);
    expect(holder.state).toBe('fenced');
    await world.advance(2000);
    expect(holder.state).toBe('active');
    expect(holder.from).toBeGreaterThanOrEqual(until);
  });

  /** A holder with a longer ttl than the store's usual one of a second, and another one. */
  async function longHolder() {
    const world = new FakeTime();
    const server = new RewindingServer(() => world.now);
    const terms = { ...options, timer: world, clock: world.clock() };
    const usual = await acquireLease(server.connect(), terms);
    const replica = server.copy();
    const long = await acquireLease(server.connect(), { ...terms, ttl: 5000 });
    /** The first time that a newcomer may put into ids. */
    const nextFrom = async () => {
      await acquireLease(server.connect(), { ...terms, waitFor: 0 }).catch(() => undefined);
      return (await server.connect().listLeases('orders')).find(({ id }) => id === -1)?.fence;
    };
    return { world, server, terms, usual, replica, long, nextFrom };
  }

  it('makes others wait long enough when the note of a longer ttl is lost with its lease', async () => {
    const { world, server, replica, long, nextFrom } = await longHolder();
    await world.advance(4000);
    const { until } = long;
    server.promote(replica);
    expect(await nextFrom()).toBeGreaterThanOrEqual(until);
  });

  it('lets a longer ttl count when its note is older than any loss that is covered', async () => {
    const { world, server, long, nextFrom } = await longHolder();
    // Of 60 seconds, twice the skew, and some renewals.
    await world.advance(59_000);
    expect(long.until - world.now).toBeLessThanOrEqual(1000);
    const replica = server.copy();
    await world.advance(5000);
    expect(long.until - world.now).toBeGreaterThan(2500);
    const { until } = long;
    server.promote(replica);
    expect(await nextFrom()).toBeGreaterThanOrEqual(until);
  });

  it('grants a longer ttl at once to a process that has long known of its note, in the same lineage', async () => {
    const { world, server, terms } = await longHolder();
    const store = server.connect();
    const windowOf = async () => {
      const lease = await acquireLease(store, { ...terms, ttl: 5000, reacquire: false });
      const { until } = lease;
      await lease.release();
      return until - world.now;
    };
    expect(await windowOf()).toBe(1000);
    await world.advance(59_000);
    expect(await windowOf()).toBe(1000);
    await world.advance(1200);
    expect(await windowOf()).toBe(5000);
    server.promote(server.copy());
    await world.advance(6000);
    expect(await windowOf()).toBe(1000);
  });

  it('renews a lease with a longer ttl in time before that', async () => {
    const { world, long } = await longHolder();
    const fenced: number[] = [];
    long.on('fenced', () => fenced.push(world.now));
    await world.advance(70_000);
    expect(fenced).toEqual([]);
    expect(long.state).toBe('active');
  });

  /** A holder of the only node id that is stopped in the middle of a renewal, for longer than its lease. */
  async function stoppedHolder(ttl: number) {
    const world = new FakeTime();
    const own = new FakeTime(world.now);
    const server = new RewindingServer(() => world.now);
    const answers = { hold: undefined as Promise<void> | undefined };
    const store = server.connect();
    const stopped = {
      ...store,
      moment: async (namespace: string) => {
        const told = await store.moment?.(namespace);
        await answers.hold;
        return told as NonNullable<typeof told>;
      },
    };
    const terms = { namespace: 'orders', size: 1, ttl, maxSkew: 100 };
    const holder = await acquireLease(stopped, { ...terms, timer: own, clock: world.clock() });
    let goOn = () => {};
    answers.hold = new Promise((resolve) => {
      goOn = resolve;
    });
    world.now += ttl / 2;
    // The renewal has asked for the time, and the process stops before it has the answer.
    await own.advance(ttl / 2);
    world.now += ttl / 2 + 1;
    return { world, own, server, terms, holder, goOn };
  }

  it('lets no holder go on that was stopped for longer than its lease, though its record is there again', async () => {
    const { world, own, server, terms, holder, goOn } = await stoppedHolder(600);
    const replica = server.copy();
    const next = await acquireLease(server.connect(), { ...terms, timer: world, clock: world.clock() });
    expect(next.from).toBeGreaterThanOrEqual(holder.until);
    server.promote(replica);
    goOn();
    await own.advance(0);
    expect(holder.until).toBeLessThanOrEqual(next.from);
    expect(holder.state).toBe('fenced');
  });

  it('lets that holder go on when the store has lost nothing', async () => {
    const { world, own, holder, goOn } = await stoppedHolder(600);
    goOn();
    await own.advance(0);
    expect(holder.until).toBeGreaterThan(world.now);
    expect(holder.state).toBe('active');
  });

  it('ends all leases of a store that was replaced, by one answer', async () => {
    const store = new RewindingServer().connect();
    const leases = await Promise.all([1, 2, 3].map(() => acquireLease(store, { ...options, ttl: 30_000 })));
    const [first, ...others] = leases as [Lease, Lease, Lease];
    Object.assign(store, {
      moment: () => Promise.reject(new StoreError('replaced', { reason: 'REPLACED' })),
    });
    first.fence();
    await vi.waitFor(() => expect(others.map(({ state }) => state)).toEqual(['fenced', 'fenced']));
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('has the fence of a holder again whose record is gone, so that nobody begins in its window', async () => {
    const server = new RewindingServer();
    const lease = await acquireLease(server.connect(), { ...options, reacquire: false });
    await new Promise<void>((resolve) => lease.once('renewed', resolve));
    const { until } = lease;
    server.promote(NOTHING);
    await new Promise<unknown>((resolve) => lease.once('renewal-failed', resolve));
    const record = () => server.copy().leases.get(options.namespace)?.get(lease.id);
    await vi.waitFor(() => expect(record()).toMatchObject({ owner: null, expiresAt: 0, fence: until }));
    await lease.release();
  });

  it('ends the lease of a holder whose record is gone, and tells why', async () => {
    const server = new RewindingServer();
    const first = await acquireLease(server.connect(), { ...options, namespace: 'other' });
    const replica = server.copy();
    const lease = await acquireLease(server.connect(), { ...options, reacquire: false });
    server.promote(replica);
    const error = await new Promise<unknown>((resolve) => lease.once('renewal-failed', resolve));
    expect(error).toMatchObject({ code: 'STORE_WENT_BACK' });
    expect(lease.state).toBe('fenced');
    await first.release();
    await lease.release();
  });
});
