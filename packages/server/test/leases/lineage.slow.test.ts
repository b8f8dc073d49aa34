import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLease, type Lease, StoreWentBackError } from 'idsmith';
import { series } from 'idsmith/sql';
import { openStore } from 'idsmith/stores';
import { httpStore } from 'idsmith/stores/http';
import { expect, it, onTestFinished } from 'vitest';
import { RewindingServer } from '../../../idsmith/test/lineage/rewinding-store.ts';
import { TestServer } from '../support/server.ts';

async function serve(behind: RewindingServer): Promise<TestServer> {
  const server = await TestServer.start({}, behind.connect());
  onTestFinished(() => server.stop());
  return server;
}

/** An answer may take a third of the ttl. */
const options = { namespace: 'orders', size: 4, ttl: 30_000, maxSkew: 500 };

it('makes clients wait until forgotten windows have ended', async () => {
  const behind = new RewindingServer();
  const { url } = await serve(behind);
  const kept = await acquireLease(httpStore(url), { ...options, namespace: 'kept' });
  const replica = behind.copy();
  const lost = await acquireLease(httpStore(url), { ...options, reacquire: false });
  behind.promote(replica);
  const waiting = acquireLease(httpStore(url), { ...options, waitFor: 1 });
  await expect(waiting).rejects.toThrow(/can be used at/);
  const [birth] = (await behind.connect().listLeases('orders')).filter(({ id }) => id === -1);
  expect(birth).toMatchObject({ label: behind.lineage });
  expect(birth!.fence).toBeGreaterThanOrEqual(lost.until);
  expect(kept.state).toBe('active');
  await Promise.allSettled([kept, lost].map((each) => each.release()));
});

it('refuses a birth record that would begin too soon after a loss', async () => {
  const behind = new RewindingServer();
  const server = await serve(behind);
  const lease = await acquireLease(httpStore(server.url), options);
  behind.promote(behind.copy());
  const { json } = await server.get('/v1/leases/orders/moment');
  expect(json).toEqual({ now: expect.any(Number), lineage: behind.lineage });
  const { own } = (await server.get('/v1/leases/orders')).json;
  const [birth] = own.filter(({ id }: { id: number }) => id === -1);
  const swap = (next: object) =>
    server.post('/v1/leases/orders/swap', { body: { expected: birth, next: { ...birth, ...next } } });
  const soon = await swap({ owner: 'me', label: behind.lineage });
  expect(soon).toMatchObject({ status: 422 });
  expect(soon.json.detail).toMatch(/must begin at least \d+ ms from now/);
  await lease.release();
});

it('gives no number twice when the store goes back and does not tell', async () => {
  const behind = new RewindingServer();
  const server = await serve(behind);
  const [client, other] = [httpStore(server.url), httpStore(server.url)];
  await client.defineSequence({ name: 'orders' });
  const replica = behind.copy();
  const ids = new Set<bigint>();
  for (const store of [client, other]) ids.add((await store.allocate('orders', 1)).first);
  behind.restoreSilently(replica);
  // The server has seen more than its store tells. It moves the sequence on, and the client asks again.
  for (const store of [client, other]) ids.add((await store.allocate('orders', 1)).first);
  expect(ids.size).toBe(4);
});

it.each(['an older file', 'no file'])(
  'is noticed by a client when the server starts again with %s',
  async (left) => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-lost-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [file, copy] = ['ids.db', 'copy.db'].map((name) => join(folder, name)) as [string, string];
    // The client keeps its memory, and finds each server at the same name.
    let address = '';
    const client = httpStore('http://ids', {
      fetch: (input, init) => fetch(String(input).replace('http://ids', address), init),
    });
    const withServer = async (path: string, work: () => Promise<void>) => {
      const store = await openStore(`sqlite:${path}?ephemeral=true`);
      const server = await TestServer.start({}, store);
      address = server.url;
      await work();
      await server.stop();
      await store.close();
    };
    const taken: unknown[] = [];
    const take = async () => {
      taken.push((await client.allocate('orders', 1)).first);
      // A new object each time, as in a request: it defines the series if that is missing.
      const invoices = series('invoices', { format: 'R-{n}', prefetch: 0, store: client });
      taken.push(await invoices.next());
    };
    const toldToHolder: unknown[] = [];
    await withServer(file, async () => {
      await client.defineSequence({ name: 'orders' });
      await take();
    });
    copyFileSync(file, copy);
    let lease: Lease | undefined;
    await withServer(file, async () => {
      for (let i = 0; i < 3; i++) await take();
      lease = await acquireLease(client, { ...options, ttl: 6000, reacquire: false });
      lease.on('renewal-failed', (error) => toldToHolder.push((error as { code?: unknown }).code));
    });
    await withServer(left === 'no file' ? join(folder, 'new.db') : copy, async () => {
      if (left === 'no file') await client.defineSequence({ name: 'orders' });
      // A store that tells its lineage jumps by itself. Otherwise the client refuses once, each counter for itself.
      const refused = (error: unknown) => expect(error).toBeInstanceOf(StoreWentBackError);
      for (let i = 0; i < 2; i++) await take().catch(refused);
      await take();
      await expect.poll(() => toldToHolder, { timeout: 60_000 }).toContain('STORE_WENT_BACK');
      await lease?.release();
    });
    expect(new Set(taken).size).toBe(taken.length);
  },
);

it('works with a server of an earlier version, which knows of no lineage', async () => {
  const { url } = await serve(new RewindingServer());
  const earlier: typeof fetch = (input, init) => {
    if (!/\/(moment|claim)$/.test(String(input))) return fetch(input, init);
    const body = JSON.stringify({ code: 'NOT_FOUND', detail: 'there is no such route' });
    return Promise.resolve(new Response(body, { status: 404 }));
  };
  const store = httpStore(url, { fetch: earlier });
  expect((await store.moment?.('orders'))?.lineage).toBeUndefined();
  const lease = await acquireLease(store, options);
  expect(lease.state).toBe('active');
  await lease.release();
});
