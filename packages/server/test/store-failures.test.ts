import { memoryStore, type Store, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { problemOf } from './support/problem.ts';
import { TestServer } from './support/server.ts';

describe('A store that fails', () => {
  /** A store that can be broken and made to wait. */
  function fragile(): Store & { isBroken: boolean; hold: Promise<void> } {
    const inner = memoryStore();
    const outer = { isBroken: false, hold: Promise.resolve() };
    return new Proxy(inner, {
      get(target, key) {
        if (key in outer) return outer[key as 'hold'];
        const value = Reflect.get(target, key);
        // These two do not ask the store.
        if (typeof value !== 'function' || key === 'warnings' || key === 'lineageRead') return value;
        return async (...args: unknown[]) => {
          await outer.hold;
          if (outer.isBroken)
            throw new StoreError('the disk is full', { cause: new Error('hunter2'), reason: 'NO_SPACE' });
          return value.apply(target, args);
        };
      },
      set(_, key, value) {
        outer[key as 'hold'] = value;
        return true;
      },
    }) as Store & typeof outer;
  }

  it('is 503 with Retry-After, and the server works again when it does', async () => {
    const store = fragile();
    const here = await TestServer.prepare({}, store);
    await here.post('/v1/sequences', { body: { name: 'x', blockSize: 1 } });
    store.isBroken = true;
    const seen = await here.post('/v1/sequences/x/next?count=2');
    expect(problemOf(seen)).toEqual({ status: 503, code: 'STORE', detail: 'the disk is full' });
    expect(seen.json.reason).toBe('NO_SPACE');
    expect(seen.headers.get('retry-after')).toBe('1');
    expect(problemOf(await here.get('/readyz'))).toMatchObject({ status: 503, code: 'STORE' });
    expect((await here.get('/healthz')).status).toBe(200);
    // Flakes need no store while the lease lasts.
    expect((await here.post('/v1/flakes')).status).toBe(200);
    store.isBroken = false;
    expect((await here.post('/v1/sequences/x/next?count=2')).json.ids).toEqual(['1', '2']);
    expect(await here.metric('idsmith_store_errors_total{operation="describeSequence"}')).toBe(1);
    expect(here.log.join('')).toContain('the disk is full');
    expect(here.log.join('')).not.toContain('hunter2');
    await here.stop();
  });

  it('costs the lease in the end, and is forgiven: 503 until it can be renewed', async () => {
    const store = fragile();
    const here = await TestServer.prepare({ ttl: 1000 }, store);
    store.isBroken = true;
    const status = async () => (await here.post('/v1/flakes')).status;
    await expect.poll(status, { interval: 100 }).toBe(503);
    expect(problemOf(await here.post('/v1/flakes'))).toMatchObject({ code: 'LEASE_FENCED' });
    expect(problemOf(await here.get('/readyz'))).toMatchObject({ code: 'LEASE_FENCED' });
    expect(
      await here.metric('idsmith_lease_active{family="flake",generator="flake",namespace="jflake"}'),
    ).toBe(0);
    await expect.poll(() => here.log.join('')).toContain('"event":"lease fenced"');
    store.isBroken = false;
    await expect.poll(status, { interval: 100 }).toBe(200);
    await here.stop();
  });

  it('makes so many wait and no more: the others get 503 at once', async () => {
    const store = fragile();
    const here = await TestServer.prepare({ maxInFlight: 5 }, store);
    await here.post('/v1/sequences', { body: { name: 'x' } });
    let release = () => {};
    store.hold = new Promise((resolve) => {
      release = resolve;
    });
    const calls = Array.from({ length: 30 }, () => here.post('/v1/sequences/x/blocks'));
    await expect.poll(() => here.metric('idsmith_problems_total{code="OVERLOADED"}')).toBe(25);
    expect(await here.metric('idsmith_requests_in_flight')).toBe(5);
    expect((await here.post('/v1/flakes')).status).toBe(200);
    release();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 503)).toHaveLength(25);
    await here.stop();
  });
});
