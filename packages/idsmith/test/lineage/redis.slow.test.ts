import { acquireLease, FlakeGenerator, type Lease } from 'idsmith';
import { connect } from 'idsmith/connect';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith, initialised, type RedisServer, startRedis } from '#services';
import { initStore, markRestored } from '../../src/stores/init.ts';
import { openStore } from '../../src/stores/open.ts';

const LEASE = { namespace: 'orders', size: 8, ttl: 2000, maxSkew: 0 };

async function start(): Promise<RedisServer> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  return server;
}

async function storeAt(server: RedisServer) {
  const store = await openStore(`${server.url}?maxTtl=2000`);
  onTestFinished(() => store.close());
  return store;
}

const renewalOf = (lease: Lease) => new Promise<void>((resolve) => lease.once('renewed', resolve));

/** Two servers, the second one a replica of the first. */
async function startPair(): Promise<[RedisServer, RedisServer]> {
  const [master, replica] = await Promise.all([start(), start()]);
  await follow(replica, master);
  return [master, replica];
}

async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
  await replica.command('REPLICAOF', '127.0.0.1', master.port);
  await expect.poll(() => replica.command('INFO', 'replication')).toContain('master_link_status:up');
}

/** Resolves when the replica has everything that the master has acknowledged. */
async function caughtUp(master: RedisServer): Promise<void> {
  await expect.poll(() => master.command('INFO', 'replication')).toMatch(/slave0:.*,lag=/);
  const [, offset] = /master_repl_offset:(\d+)/.exec(await master.command('INFO', 'replication'))!;
  const acknowledged = async () =>
    Number(/slave0:.*offset=(\d+)/.exec(await master.command('INFO', 'replication'))?.[1] ?? 0);
  await expect.poll(acknowledged, { timeout: 5000 }).toBeGreaterThanOrEqual(Number(offset));
}

await describeWith(['redis'], 'A Redis that can forget', () => {
  it('makes nobody wait once somebody has said that it is new', async () => {
    const store = await storeAt(await initialised(await start()));
    const began = Date.now();
    const many = Array.from({ length: 8 }, () => acquireLease(store, { ...LEASE, waitFor: 0 }));
    const leases = await Promise.all(many);
    leases.push(await acquireLease(store, { ...LEASE, namespace: 'others', waitFor: 0 }));
    // Not even the window of the first holder begins later.
    for (const lease of leases) expect(lease.from).toBeLessThan(began + 1500);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('makes the first lease wait once a store, not once a namespace, where nobody has said so', async () => {
    const store = await storeAt(await start());
    const began = Date.now();
    const first = await acquireLease(store, LEASE);
    // A window may begin a second ahead of its time.
    expect(first.from).toBeGreaterThanOrEqual(began + LEASE.ttl);
    const other = await acquireLease(store, { ...LEASE, namespace: 'others', waitFor: 0 });
    await Promise.all([first.release(), other.release()]);
  });

  it('makes a client with a shorter limit wait, too, where another one has begun the wait', async () => {
    const server = await start();
    const usual = await openStore(server.url);
    onTestFinished(() => usual.close());
    /** The options of somebody who gives up when there is a wait. */
    const impatient = () => {
      const patience = new AbortController();
      return { signal: patience.signal, onWait: () => patience.abort(new Error('it waits')) };
    };
    await expect(acquireLease(usual, { ...LEASE, ...impatient() })).rejects.toThrow('it waits');
    // As after the advice to shorten the wait.
    const other = acquireLease(await storeAt(server), { ...LEASE, namespace: 'others', ...impatient() });
    await expect(other).rejects.toThrow('it waits');
  });

  it('begins no sequence again that it has lost: the first program of the README', async () => {
    const server = await initialised(await start());
    const program = async () => {
      const ids = await connect(server.url);
      onTestFinished(() => ids.close());
      const orders = await ids.sequence('orders', { define: {} });
      const invoices = await ids.series('invoices', { format: 'R-{n}' });
      return { ids, next: async () => [await orders.next(), await invoices.next()] };
    };
    const survivor = await program();
    expect(await survivor.next()).toEqual([1n, 'R-1']);
    await server.restart({ empty: true });
    const refusal = {
      code: expect.stringMatching(/^STORE/),
      message: expect.stringContaining('idsmith init'),
    };
    await expect
      .poll(() => program().catch(({ code, message }) => ({ code, message })))
      .toMatchObject(refusal);
    // The registry is gone with everything else. Even if a person takes the Redis for a new one, survivors repeat nothing.
    await using store = await openStore(server.url);
    await initStore(store);
    const again = await program();
    expect(await again.next()).toEqual([1n, 'R-1']);
    const seen = new Set<unknown>([1n, 'R-1']);
    for (let i = 0; i < 60; i++)
      for (const id of await survivor.next().catch(() => [])) {
        expect(seen.has(id)).toBe(false);
        seen.add(id);
      }
    expect(seen.size).toBeGreaterThan(80);
  });

  it('begins nothing again after FLUSHALL, and ends the leases of holders', async () => {
    const server = await initialised(await start());
    const store = await storeAt(server);
    await store.defineSequence({ name: 'orders' });
    await store.allocate('orders', 1);
    const lease = await acquireLease(store, { ...LEASE, reacquire: false });
    const ended = new Promise<unknown>((resolve) => lease.once('renewal-failed', resolve));
    await server.command('FLUSHALL');
    await expect(store.allocate('orders', 1)).rejects.toMatchObject({ code: 'NO_SUCH_SEQUENCE' });
    await expect(store.defineSequence({ name: 'orders' })).rejects.toThrow('idsmith restored --store URL');
    expect(await ended).toMatchObject({ code: 'STORE_WENT_BACK' });
    const newcomer = await acquireLease(store, LEASE);
    expect(newcomer.from).toBeGreaterThanOrEqual(lease.until);
    await newcomer.release();
    await markRestored(store);
    await store.defineSequence({ name: 'orders', start: 1000 });
  });

  it('refuses a sequence whose row was evicted, until somebody says where it goes on', async () => {
    const server = await initialised(await start());
    const store = await storeAt(server);
    await store.defineSequence({ name: 'orders' });
    await store.allocate('orders', 1);
    await server.command('DEL', 'idsmith:sequence:{orders}');
    await expect(store.defineSequence({ name: 'orders' })).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    await store.defineSequence({ name: 'orders', start: 21, lost: true });
    expect((await store.allocate('orders', 1)).first).toBe(21n);
    await store.removeSequence('orders');
    await store.defineSequence({ name: 'orders', start: 41 });
  });

  it('lets holders mint on through a failover that has lost nothing', async () => {
    const [master, replica] = await startPair();
    const store = await storeAt(await initialised(master));
    const generator = await FlakeGenerator.lease(store, { namespace: 'orders', ttl: 2000, maxSkew: 0 });
    const lease = generator.lease!;
    await renewalOf(lease);
    await caughtUp(master);
    const { lineage } = await store.moment!('orders');
    // There and back at once: the holder's client stays on its server, which is promoted again and has another lineage.
    await replica.command('REPLICAOF', 'NO', 'ONE');
    await follow(master, replica);
    await master.command('REPLICAOF', 'NO', 'ONE');
    expect((await store.moment!('orders')).lineage).not.toBe(lineage);
    await renewalOf(lease);
    expect(lease.state).toBe('active');
    expect(generator.next()).toBeGreaterThan(0n);
    // A newcomer waits, because it cannot know what was lost.
    const promoted = Date.now();
    const newcomer = await acquireLease(store, LEASE);
    expect(newcomer.from).toBeGreaterThanOrEqual(promoted + LEASE.ttl);
    await newcomer.release();
    await generator.close();
  });
});
