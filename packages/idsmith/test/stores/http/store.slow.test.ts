import fc from 'fast-check';
import {
  acquireLease,
  FlakeGenerator,
  InvalidOptionError,
  type LeaseRecord,
  layouts,
  memoryStore,
  Sequences,
  StoreError,
} from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startRedis } from '#services';
import { itIfLong } from '../../../../../test/long.ts';
import { metricOf, startIdsmith } from '../../../../server/test/support/process.ts';
import { TestServer } from '../../../../server/test/support/server.ts';
import { FaultyProxy } from '../../../../verify/src/proxy/faulty-proxy.ts';
import { httpStore, openHttp } from '../../../src/stores/http/store.ts';
import { openStore } from '../../../src/stores/open.ts';
import type { Store } from '../../../src/stores/store.ts';
import { notBeside, startLoad } from '../support/runs.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

const uniqueName = () => `http ${crypto.randomUUID()}`;

describe('The HTTP store', () => {
  let server: ServerProcess;
  let store: Store;

  beforeAll(async () => {
    server = await startIdsmith();
    store = httpStore(server.url);
  });
  afterAll(() => server?.stop());

  for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);

  it.each([
    ['a fence that lies years ahead', { fence: Number.MAX_SAFE_INTEGER - 1 }],
    ['a first epoch beyond 1', { epoch: 7 }],
    [
      "a namespace's own record that lets nobody in for years",
      { id: -1, fence: Number.MAX_SAFE_INTEGER - 1 },
    ],
  ])('refuses %s, for no lease writes it', async (_, wrong) => {
    const { lineage } = (await store.moment?.('x')) ?? {};
    const label = lineage ?? HELD.label;
    const swapping = store.swapLease(uniqueName(), undefined, { ...HELD, label, ...wrong });
    await expect(swapping).rejects.toThrow(InvalidOptionError);
  });

  it('tells the schema version of the store behind the server', async () => {
    expect(await store.schemaVersion?.()).toEqual({ version: 1, leastReader: 1 });
  });

  it('refuses a server whose store needs a later library', async () => {
    const later: Store = { ...memoryStore(), schemaVersion: async () => ({ version: 9, leastReader: 8 }) };
    const server = await TestServer.start({}, later);
    await expect(openHttp(server.url)).rejects.toThrow(
      /http store: the store has schema version 9 .* knows version 8\. This idsmith knows version 1/,
    );
    await expect(acquireLease(httpStore(server.url), { namespace: 'x', size: 4 })).rejects.toThrow(
      StoreError,
    );
    await server.stop();
  });

  it('shows whose a lease is to nobody but the one who took it', async () => {
    const namespace = uniqueName();
    const until = Date.now() + 50_000;
    const secret = { ...HELD, owner: 'a secret', fence: until, expiresAt: until };
    await store.swapLease(namespace, undefined, secret);
    expect(await store.listLeases(namespace)).toEqual([secret]);
    const other = httpStore(server.url);
    const [shown] = await other.listLeases(namespace);
    expect(shown).toEqual({ ...secret, owner: expect.stringMatching(/^sha256:[0-9a-f]{32}$/) });
    // Enough to see that somebody holds it, and not to release it.
    await expect(
      other.swapLease(namespace, shown, { ...shown!, owner: null, expiresAt: 0 }),
    ).rejects.toBeInstanceOf(InvalidOptionError);
    expect(await other.swapLease(namespace, shown, { ...shown!, owner: 'b', epoch: 2 })).toBe(false);
    const renewed = { ...secret, owner: 'another secret', fence: secret.fence + 1 };
    expect(await store.swapLease(namespace, secret, renewed)).toBe(true);
    expect(await store.listLeases(namespace)).toEqual([renewed]);
  });

  it('takes over from another store what has expired', async () => {
    const namespace = uniqueName();
    await store.swapLease(namespace, undefined, HELD);
    const other = httpStore(server.url);
    const [shown] = await other.listLeases(namespace);
    const next = { ...HELD, owner: uniqueName(), epoch: 2, fence: 3000, expiresAt: 3000 };
    expect(await other.swapLease(namespace, shown, next)).toBe(true);
    expect(await other.listLeases(namespace)).toEqual([next]);
    expect((await store.listLeases(namespace))[0]?.owner).not.toBe(next.owner);
  });

  it('takes any namespace and any name to the server and back', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, async (suffix) => {
        const namespace = `${uniqueName()}${suffix.replaceAll('\0', '')}`;
        expect(await store.swapLease(namespace, undefined, HELD)).toBe(true);
        expect(await store.listLeases(namespace)).toEqual([HELD]);
        expect(await store.swapLease(namespace, undefined, HELD)).toBe(false);
      }),
      { numRuns: 15, examples: [['%2F'], ['/../x'], ['?a=b#c'], ['%'], ['%zz'], ['\\'], ['//'], ['+']] },
    );
    for (const name of ['a%2Fb', 'a/b', '%25', '?x', '#', 'ü/🔑', 'a+b', 'x'.repeat(255), 'ü'.repeat(255)]) {
      await store.defineSequence({ name });
      expect(await store.describeSequence(name)).toMatchObject({ name });
      expect((await store.allocate(name, 1)).first).toBe(1n);
      await store.removeSequence(name);
    }
  });

  it.each(['.', '..'])('refuses the name %j, which no URL can have', async (name) => {
    await expect(store.listLeases(name)).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(store.allocate(name, 1)).rejects.toBeInstanceOf(InvalidOptionError);
  });

  it('takes itself for one that can forget until it has heard, and then knows', async () => {
    const fresh = httpStore(server.url);
    expect([fresh.durable, fresh.maxTtl]).toEqual([false, 60_000]);
    await fresh.listLeases('x');
    expect(fresh.durable).toBe(true);
    expect((await openStore(server.url)).durable).toBe(true);
  });

  it('gives a lease at once where the store behind the server is durable', async () => {
    const lease = await acquireLease(httpStore(server.url), { namespace: uniqueName(), size: 8 });
    const ids = new FlakeGenerator({ node: lease });
    expect(layouts.jflake.decode(ids.next()).node).toBe(lease.id);
    await lease.release();
  });

  it('has the clock of the server', async () => {
    const before = Date.now();
    const now = await store.now!();
    expect(now).toBeGreaterThan(before - 1500);
    expect(now).toBeLessThan(Date.now() + 1500);
  });

  it('lets a sequence draw from blocks, and takes back what it has not used', async () => {
    const name = uniqueName();
    const sequences = new Sequences(store);
    await sequences.define(name, { start: 10_001, blockSize: 100 });
    const sequence = await sequences.get(name, { prefetch: 0 });
    expect(await sequence.batch(3)).toEqual([10_001n, 10_002n, 10_003n]);
    await sequence.close();
    expect((await sequences.describe(name)).next).toBe(10_004n);
  });

  it('asks for no more blocks than a server gives', async () => {
    const name = uniqueName();
    await store.defineSequence({ name, blockSize: 2 });
    expect(await store.allocate(name, 2 ** 20)).toMatchObject({ first: 1n, count: 20_000 });
  });
});

describe('The HTTP store, when answers are lost', () => {
  let server: ServerProcess;
  let direct: Store;
  let proxy: FaultyProxy;
  let store: Store;
  let name: string;

  beforeAll(async () => {
    server = await startIdsmith();
    direct = httpStore(server.url);
  });
  afterAll(() => server?.stop());

  async function behindProxy(): Promise<void> {
    proxy = await FaultyProxy.before(server.port);
    store = httpStore(`http://127.0.0.1:${proxy.port}`, { timeout: 60_000 });
    name = uniqueName();
    await store.defineSequence({ name, blockSize: 10 });
    expect((await store.allocate(name, 1)).first).toBe(1n);
  }
  afterEach(() => proxy?.close());

  /** Waits until the sequence has come to that id, although nobody has been told. */
  async function movedTo(id: bigint): Promise<void> {
    await expect.poll(async () => (await direct.describeSequence(name)).next).toBe(id);
  }

  it('asks again and is given the same block', async () => {
    await behindProxy();
    proxy.halfOpen('answers');
    const answer = store.allocate(name, 1);
    await movedTo(21n);
    proxy.cut();
    proxy.heal();
    expect((await answer).first).toBe(11n);
    expect((await direct.describeSequence(name)).next).toBe(21n);
    expect(await metricOf(server.url, 'idsmith_repeats_total{outcome="replayed"}')).toBe(1);
  });

  it('is given another block by a server that knows nothing of the first, which is never given again', async () => {
    await behindProxy();
    proxy.halfOpen('answers');
    const answer = store.allocate(name, 1);
    await movedTo(21n);
    await server.kill();
    await server.start();
    proxy.cut();
    proxy.heal();
    expect((await answer).first).toBe(21n);
    expect((await store.allocate(name, 1)).first).toBe(31n);
    expect(await metricOf(server.url, 'idsmith_repeats_total{outcome="anew"}')).toBe(1);
  });

  it('swaps a lease once, and hears of it', async () => {
    await behindProxy();
    proxy.halfOpen('answers');
    const swapped = store.swapLease(name, undefined, HELD);
    await expect.poll(() => direct.listLeases(name)).toHaveLength(1);
    proxy.cut();
    proxy.heal();
    expect(await swapped).toBe(true);
  });

  it('knows its own lease again when the answer is lost for good, which nobody else does', async () => {
    await behindProxy();
    let isLost = true;
    const faulty: typeof fetch = async (...request) => {
      const answer = await fetch(...request);
      if (isLost) throw new TypeError('the connection was cut');
      return answer;
    };
    const unlucky = httpStore(server.url, { fetch: faulty });
    const mine = { ...HELD, owner: uniqueName() };
    await expect(unlucky.swapLease(name, undefined, mine)).rejects.toBeInstanceOf(StoreError);
    isLost = false;
    expect(await unlucky.listLeases(name)).toEqual([mine]);
    expect(await direct.listLeases(name)).not.toEqual([mine]);
  });

  it('never gives ids back twice, for they may be somebody else’s by then', async () => {
    await behindProxy();
    const block = await store.allocate(name, 1);
    expect(block.first).toBe(11n);
    proxy.halfOpen('answers');
    const tail = { ...block, origin: block.origin as number, first: 16n, count: 5 };
    const returned = store.giveBack!(name, tail).catch((error) => error);
    await movedTo(16n);
    await direct.alterSequence(name, { blockSize: 5 });
    expect(await direct.allocate(name, 1)).toMatchObject({ first: 16n, count: 5 });
    proxy.cut();
    proxy.heal();
    expect(await returned).toBeInstanceOf(StoreError);
    expect((await direct.describeSequence(name)).next).toBe(21n);
  });

  it('gives no id twice while connections are cut again and again', async () => {
    await behindProxy();
    const stores = Array.from({ length: 4 }, () => httpStore(`http://127.0.0.1:${proxy.port}`));
    const load = startLoad(stores, name);
    for (let round = 0; round < 4; round++) {
      const before = load.blocks.length;
      await expect.poll(() => load.blocks.length, { interval: 5 }).toBeGreaterThan(before + 20);
      proxy.cut();
      proxy.heal();
    }
    expect(notBeside(await load.stop(), 'overlap')).toEqual([]);
  });

  it('gives no id twice when the server is killed at work and started again', async () => {
    await behindProxy();
    const stores = Array.from({ length: 4 }, () => httpStore(server.url, { timeout: 2000 }));
    const load = startLoad(stores, name);
    for (let round = 0; round < 2; round++) {
      const before = load.blocks.length;
      await expect.poll(() => load.blocks.length, { interval: 5 }).toBeGreaterThan(before + 50);
      await server.kill();
      await expect.poll(() => load.errors.length, { interval: 5 }).toBeGreaterThan(4 * round);
      await server.start();
    }
    const before = load.blocks.length;
    await expect.poll(() => load.blocks.length, { interval: 5 }).toBeGreaterThan(before + 50);
    const blocks = await load.stop();
    for (const error of load.errors) expect(error).toBeInstanceOf(StoreError);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
  });
});

describe('The HTTP store with a token', () => {
  it('may do what the token may', async () => {
    const [server, all] = await TestServer.startWithToken();
    const url = new URL(server.url);
    url.username = all;
    const store = await openStore(url.href);
    await store.defineSequence({ name: 'x' });
    expect((await httpStore(server.url, { token: all }).allocate('x', 1)).first).toBe(1n);
    for (const wrong of [httpStore(server.url), httpStore(server.url, { token: `${all}x` })]) {
      const failure = await wrong.allocate('x', 1).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toContain('HTTP 401: this');
      expect(failure.message).toContain('https://TOKEN@host:7600, or as httpStore(url, { token })');
      expect(failure.message).not.toContain(all);
    }
    await server.stop();
  });
});

await describeWith(['redis'], 'The HTTP store before a server whose store can forget', () => {
  // Longer than the tests take: the server is not ready before.
  const MAX_TTL = 20_000;
  let redis: ServerProcess;
  let server: ServerProcess;

  beforeAll(async () => {
    redis = await startRedis();
    server = await startIdsmith('--store', `${redis.url}?maxTtl=${MAX_TTL}`, '--ttl', String(MAX_TTL));
  });
  afterAll(async () => {
    await server?.stop();
    await redis?.stop();
  });

  it('says so, with the longest ttl', async () => {
    const store = await openHttp(server.url);
    expect([store.durable, store.maxTtl]).toEqual([false, MAX_TTL]);
    // Its own leases have to wait as well, and it says that it is not ready.
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    const refused = await fetch(`${server.url}/v1/flakes`, { method: 'POST' });
    expect(await refused.json()).toMatchObject({ status: 503, code: 'STORE' });
  });

  // A real wait of `maxTtl`. The server's answer to such a claim is tested in server/test/leases.
  itIfLong('lets the windows of an empty namespace begin when all from before have run out', async () => {
    const store = await openHttp(server.url);
    const asked = Date.now();
    const options = { namespace: 'empty', size: 8, maxSkew: 100 };
    const lease = await acquireLease(store, { ...options, ttl: MAX_TTL });
    expect(lease.from).toBeGreaterThanOrEqual(asked + MAX_TTL);
    await lease.release();
    // One who has not asked first does not know how long a lease may last there.
    const hasty = httpStore(server.url);
    expect(hasty.maxTtl).toBe(60_000);
    const failure = await acquireLease(hasty, { ...options, ttl: 30_000 }).catch((error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).toContain(`ttl must be at most ${MAX_TTL}`);
  });
});

describe('What the HTTP store refuses', () => {
  it.each([
    'http://',
    'ftp://host',
    'http://host?x=1',
    'http://host#x',
    'http://:secret@host',
    'http://user:secret@host',
    'host:7600',
    '',
  ])('the URL %j, without showing a secret', (url) => {
    const failure = (() => {
      try {
        return httpStore(url);
      } catch (error) {
        return error as Error;
      }
    })();
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect((failure as Error).message).not.toContain('secret');
  });

  it.each([[{ token: 'a b' }], [{ token: 1 }], [{ timeout: 0 }], [{ tokne: 'x' }], [{ timeOut: 1 }]])(
    'the options %j',
    (options) => {
      expect(() => httpStore('http://host', options as never)).toThrow(InvalidOptionError);
    },
  );

  it('the answers of something that is not an idsmith server', async () => {
    for (const text of ['{}', '[]', 'null', '<html>', '', '{"leases":[]}', '{"durable":true,"leases":[1]}']) {
      const store = httpStore('http://host', { fetch: async () => new Response(text) });
      await expect(store.listLeases('x')).rejects.toBeInstanceOf(StoreError);
      await expect(store.allocate('x', 1)).rejects.toBeInstanceOf(StoreError);
      await expect(store.swapLease('x', undefined, HELD)).rejects.toBeInstanceOf(StoreError);
    }
  });

  it('to be sent elsewhere with its token', async () => {
    const seen: (RequestInit | undefined)[] = [];
    const spy: typeof fetch = async (_, init) => {
      seen.push(init);
      return new Response('{"sequences":[]}');
    };
    expect(await httpStore('http://host/ids/', { token: 'secret', fetch: spy }).listSequences()).toEqual([]);
    expect(seen[0]).toMatchObject({ redirect: 'error', headers: { authorization: 'Bearer secret' } });
  });

  it('to be opened where nobody answers, and shows no token then', async () => {
    const failure = await openStore('http://secret@127.0.0.1:2').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toMatch(/^http store: reading the clock at http:\/\/127.0.0.1:2 failed: /);
    expect(failure.message).not.toContain('secret');
  });
});
