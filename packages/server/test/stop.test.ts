import { join } from 'node:path';
import { openStore } from 'idsmith/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerProcess } from '#services';
import { repeated } from '../../idsmith/test/support/unique.ts';
import { startClients } from './support/load.ts';
import { startIdsmith } from './support/process.ts';

const PATHS = [
  '/v1/flakes?count=7',
  '/v1/locality?count=3',
  '/v1/sequences/x/next?count=5',
  '/v1/sequences/x/next',
];

describe('A server that is told to end while it is at work', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startIdsmith();
    const headers = { 'content-type': 'application/json' };
    const body = '{"name":"x","blockSize":50}';
    await fetch(`${server.url}/v1/sequences`, { method: 'POST', headers, body });
  });
  afterAll(() => server?.stop());

  it('loses no id that it has acknowledged, gives back what is left, and mints none twice afterwards', async () => {
    const clients = startClients([server.url], PATHS);
    const minted = () => clients.ids.get('/v1/flakes?count=7')!.length;
    for (let round = 0; round < 2; round++) {
      const before = minted();
      await expect.poll(minted, { interval: 10 }).toBeGreaterThan(before + 1000);
      // SIGTERM, and until it has ended.
      await server.shutdown();
      expect(server.log()).toMatch(/"event":"closed"\}$/);
      const store = await openStore(`sqlite:${join(server.dir, 'ids.db')}`);
      for (const namespace of ['jflake', 'locality'])
        for (const { id, owner } of await store.listLeases(namespace)) if (id >= 0) expect(owner).toBeNull();
      const drawn = () => PATHS.slice(2).flatMap((path) => clients.ids.get(path)!).length;
      // All that were taken from the store were acknowledged: not one is missing. Clients may still be reading the last answers.
      const { next } = await store.describeSequence('x');
      await expect.poll(() => BigInt(drawn() + 1)).toBe(next);
      await store.close();
      await server.start();
    }
    await clients.stop();
    for (const ids of [...clients.ids.values()].slice(0, 2)) expect(repeated(ids)).toEqual([]);
    const drawn = PATHS.slice(2).flatMap((path) => clients.ids.get(path)!);
    expect(repeated(drawn)).toEqual([]);
    // No connection was cut. New ones were refused while the server was away.
    expect(new Set(clients.failures)).toEqual(new Set(['ECONNREFUSED']));
  });
});
