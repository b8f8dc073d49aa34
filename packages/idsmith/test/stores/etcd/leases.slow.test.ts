import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type Etcd, startEtcd } from '#services';
import { etcdStore, openEtcd } from '../../../src/stores/etcd/store.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** An address where nothing listens. */
const NOWHERE = 'http://127.0.0.1:2';

await describeWith(['etcd'], 'The etcd store', () => {
  let etcd: Etcd;

  beforeAll(async () => {
    etcd = await startEtcd();
  });

  afterAll(() => etcd?.stop());

  const cases = () => etcdStore({ endpoints: etcd.endpoints, prefix: 'cases/' });
  for (const { name, run } of leaseStoreCases(cases)) it(name, run);
  for (const { name, run } of sequenceStoreCases(cases)) it(name, run);

  it('is durable and has the clock of the server', async () => {
    const store = etcdStore({ endpoints: etcd.endpoints });
    expect(store.durable).toBe(true);
    const before = Date.now();
    const now = await store.now!();
    expect(now).toBeGreaterThan(before - 1500);
    expect(now).toBeLessThan(Date.now() + 1500);
  });

  it('goes on to the next endpoint when nothing listens at one', async () => {
    const store = etcdStore({ endpoints: [NOWHERE, ...etcd.endpoints] });
    const swaps = Array.from({ length: 9 }, (_, i) => store.swapLease(`next ${i}`, undefined, HELD));
    expect(await Promise.all(swaps)).not.toContain(false);
    expect(await store.listLeases('next 0')).toEqual([HELD]);
  });

  it('keeps prefixes apart, and a label that begins with a byte-order mark whole', async () => {
    const [one, two] = ['one/', 'two/'].map((prefix) => etcdStore({ endpoints: etcd.endpoints, prefix }));
    const record = { ...HELD, label: '\ufeffhost' };
    await one!.swapLease('prefix', undefined, record);
    expect(await one!.listLeases('prefix')).toEqual([record]);
    expect(await two!.listLeases('prefix')).toEqual([]);
  });

  /** Sends transactions to their endpoint. Everything else is answered, also where the endpoint is a bad one. */
  const onlyTransactionsTo =
    (bad: string): typeof fetch =>
    (input, init) => {
      const url = String(input);
      return fetch(url.endsWith('/txn') ? url : url.replace(bad, etcd.endpoints[0] as string), init);
    };

  it('never sends a swap twice whose outcome is unknown, but reads again elsewhere', async () => {
    const cutter = await serve((request) => request.resume().on('end', () => request.socket.destroy()));
    const endpoints = [cutter.url, ...etcd.endpoints];
    const store = etcdStore({ endpoints, fetch: onlyTransactionsTo(cutter.url) });
    const swap = store.swapLease('cut', undefined, HELD);
    await expect(swap).rejects.toBeInstanceOf(StoreError);
    expect(await etcdStore({ endpoints }).listLeases('cut')).toEqual([]);
    cutter.server.close();
  });

  it('fails with a StoreError when there is no answer in time', async () => {
    const silent = await serve(() => {});
    const endpoints = [silent.url, ...etcd.endpoints];
    const store = etcdStore({ endpoints, timeout: 3000, fetch: onlyTransactionsTo(silent.url) });
    await expect(store.swapLease('silent', undefined, HELD)).rejects.toBeInstanceOf(StoreError);
    expect(await store.swapLease('silent', undefined, HELD)).toBe(true);
    silent.server.closeAllConnections();
    silent.server.close();
  });

  it('fails with a StoreError when it was killed, and works on after a restart', async () => {
    const store = etcdStore({ endpoints: etcd.endpoints });
    await store.swapLease('killed', undefined, HELD);
    await etcd.nodes[0]!.kill();
    const failure = await store.listLeases('killed').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toMatch(/^etcd store: listing leases at http:\S+ failed: ./);
    expect(failure.cause).toBeInstanceOf(Error);
    await etcd.nodes[0]!.restart();
    await expect.poll(() => store.listLeases('killed').catch(String)).toEqual([HELD]);
  });

  it('is opened by URL', async () => {
    const store = await openEtcd(
      `etcd://127.0.0.1:2,127.0.0.1:${etcd.nodes[0]!.port}?prefix=url/&timeout=2000`,
    );
    expect(await store.swapLease('url', undefined, HELD)).toBe(true);
    expect(await store.listLeases('url')).toEqual([HELD]);
    await store.close();
  });
});

async function serve(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('What the etcd store refuses', () => {
  it.each([
    'etcd://',
    'etcd:host',
    'http://host:2379',
    'etcd://u:secret@host:2379',
    'etcd://host:2379,bad host',
    'etcd://host:999999',
    'etcd://host,,host',
    'etcd://host?tls=maybe',
    'etcd://host?timeout=soon',
    'etcd://host?password=secret',
  ])('the URL %s, without showing a secret', async (url) => {
    const failure = await openEtcd(url).catch((error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).not.toContain('secret');
  });

  it.each([
    [{ endpoints: [] }],
    [{ endpoints: 'http://h:2379' }],
    [{ endpoints: ['http://u:secret@h:2379'] }],
    [{ endpoints: [NOWHERE], timeout: 0 }],
    [{ endpoints: [NOWHERE], prefix: 1 }],
    [undefined],
  ])('the options %j', (options) => {
    expect(() => etcdStore(options as never)).toThrow(InvalidOptionError);
  });

  it('the answers of something that is not etcd', async () => {
    const answers = ['{}', '{"kvs":[]}', 'null', '<html>', '[]'];
    for (const answer of answers) {
      const store = etcdStore({ endpoints: [NOWHERE], fetch: async () => new Response(answer) });
      await expect(store.listLeases('x')).rejects.toBeInstanceOf(StoreError);
      await expect(store.swapLease('x', undefined, HELD)).rejects.toBeInstanceOf(StoreError);
      await expect(store.now!()).rejects.toBeInstanceOf(StoreError);
    }
  });

  it('an empty namespace', async () => {
    const store = etcdStore({ endpoints: [NOWHERE] });
    await expect(store.listLeases('')).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(store.swapLease('', undefined, HELD)).rejects.toBeInstanceOf(InvalidOptionError);
  });

  it('nothing of the headers: they are sent as they are, or as a function gives them', async () => {
    const seen: unknown[] = [];
    const spy: typeof fetch = async (_, init) => {
      seen.push(new Headers(init?.headers).get('authorization'));
      return new Response('{"header":{"cluster_id":"1"}}');
    };
    const common = { endpoints: [NOWHERE], fetch: spy };
    await etcdStore({ ...common, headers: { authorization: 'one' } }).listLeases('x');
    await etcdStore({ ...common, headers: async () => ({ authorization: 'two' }) }).listLeases('x');
    // Each store looks at the marker of the schema before it lists.
    expect(seen).toEqual(['one', 'one', 'two', 'two']);
  });
});
