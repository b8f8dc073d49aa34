import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import { repeated } from '../../idsmith/test/support/unique.ts';
import { startClients } from './support/load.ts';
import { startIdsmith } from './support/process.ts';

const PATHS = ['/v1/flakes?count=7', '/v1/locality?count=3', '/v1/sequences/shared/next?count=5'];

await describeWith(['postgres'], 'Three servers on one PostgreSQL', () => {
  let postgres: ServerProcess;
  let servers: ServerProcess[];

  beforeAll(async () => {
    postgres = await startPostgres();
    servers = await Promise.all([1, 2, 3].map(() => startIdsmith('--store', postgres.url, '--log', 'error')));
    const headers = { 'content-type': 'application/json' };
    const body = '{"name":"shared","blockSize":10}';
    await fetch(`${servers[0]!.url}/v1/sequences`, { method: 'POST', headers, body });
  });
  afterAll(async () => {
    await Promise.all((servers ?? []).map((server) => server.stop()));
    await postgres?.stop();
  });

  it('mint no id twice, though one of them is killed and comes back', async () => {
    const urls = servers.map(({ url }) => url);
    const clients = startClients(urls, PATHS, 2);
    const enough = async () => {
      for (const ids of clients.ids.values()) {
        const before = ids.length;
        await expect.poll(() => ids.length, { interval: 10 }).toBeGreaterThan(before + 600);
      }
    };
    await enough();
    await servers[1]!.kill();
    await enough();
    await servers[1]!.start();
    await enough();
    await clients.stop();
    for (const ids of clients.ids.values()) expect(repeated(ids)).toEqual([]);
    // Nothing but the end of the one that was killed was in anybody's way.
    for (const failure of clients.failures) expect(failure).toMatch(/^(ECONNRESET|ECONNREFUSED|EPIPE)$/);
    const { leases } = await (await fetch(`${urls[0]}/v1/leases/jflake`)).json();
    expect(leases.length).toBeGreaterThanOrEqual(4);
    expect(new Set(leases.map(({ id }: { id: number }) => id)).size).toBe(leases.length);
  });
});
