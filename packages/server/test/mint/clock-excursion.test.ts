import { layouts, memoryStore, type Store } from 'idsmith';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { problemOf } from '../support/problem.ts';
import { TestServer } from '../support/server.ts';

const HOUR = 3_600_000;

describe('A server whose clock was an hour ahead for a while', () => {
  let server: TestServer;
  let store: Store;
  afterEach(async () => {
    vi.restoreAllMocks();
    await server.stop();
  });

  const realNow = Date.now;
  const setClockAhead = (ms: number) => vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
  const flake = async () => (await server.post('/v1/flakes')).json.ids?.[0] as string | undefined;
  const ready = async () => (await server.get('/readyz')).status;

  /** Mints an id. On a busy machine, a lease of a second may have ended, and the next one is there a moment later. */
  async function mint(): Promise<string> {
    let id: string | undefined;
    const attempt = async () => {
      id = await flake();
      return id;
    };
    await expect.poll(attempt).toBeDefined();
    return id as string;
  }

  /** Starts a server, and lets its clock be an hour ahead until ids carry that time. */
  async function excursion(settings = {}): Promise<string[]> {
    store = memoryStore();
    server = await TestServer.prepare({ ttl: 1000, ...settings }, store);
    const ids = [await mint(), await mint()];
    setClockAhead(HOUR);
    ids.push(await mint());
    expect(layouts.jflake.decode(ids[2]!).timestamp).toBeGreaterThan(realNow() + HOUR / 2);
    vi.restoreAllMocks();
    return ids;
  }

  it('takes another node id and mints on, without an id twice', async () => {
    const ids = await excursion();
    for (let i = 0; i < 100; i++) ids.push(await mint());
    expect(new Set(ids).size).toBe(103);
    const { node, timestamp } = layouts.jflake.decode(ids.at(-1) as string);
    expect(node).not.toBe(layouts.jflake.decode(ids[2] as string).node);
    expect(timestamp).toBeLessThan(realNow() + 60_000);
    await expect.poll(ready).toBe(200);
    expect(server.log.join('')).toContain('"event":"node replaced"');
    // Nobody gets the node id of before until the hour is over.
    await expect
      .poll(async () => (await store.listLeases('jflake')).filter(({ owner }) => owner))
      .toHaveLength(1);
    const old = (await store.listLeases('jflake')).find(({ owner, id }) => owner === null && id >= 0);
    expect(old?.fence).toBeGreaterThan(realNow() + HOUR / 2);
  });

  it('is not ready as long as there is no other node id, and says why', async () => {
    await excursion();
    const list = store.listLeases.bind(store);
    store.listLeases = async () => [];
    store.swapLease = async () => false;
    const seen = await server.get('/readyz');
    expect(problemOf(seen)).toMatchObject({ status: 503, code: 'CLOCK' });
    expect(problemOf(await server.post('/v1/flakes'))).toMatchObject({ status: 503, code: 'CLOCK' });
    store.listLeases = list;
  });
});
