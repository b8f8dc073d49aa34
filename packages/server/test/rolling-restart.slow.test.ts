import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerProcess } from '#services';
import { repeated } from '../../idsmith/test/support/unique.ts';
import { startClients } from './support/load.ts';
import { metricOf, startIdsmith } from './support/process.ts';

const PATHS = ['/v1/flakes?count=7', '/v1/locality', '/v1/sequences/x/next'];

describe('Two servers that are restarted one after the other, under load', () => {
  const servers: ServerProcess[] = [];
  beforeAll(async () => {
    const first = await startIdsmith();
    servers.push(first, await startIdsmith('--store', `sqlite:${join(first.dir, 'ids.db')}`));
    const headers = { 'content-type': 'application/json' };
    await fetch(`${first.url}/v1/sequences`, {
      method: 'POST',
      headers,
      body: '{"name":"x","blockSize":50}',
    });
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  it('cut no connection, lose no answer and mint no id twice', async () => {
    const urls = servers.map(({ url }) => url);
    const clients = startClients(urls, PATHS, 8, true);
    const minted = ({ url }: ServerProcess) =>
      metricOf(url, 'idsmith_ids_minted_total{family="flake",sequence=""}');
    await expect
      .poll(() => Promise.all(servers.map(minted)).then((counts) => Math.min(...counts)))
      .toBeGreaterThan(0);
    for (const server of [...servers, ...servers, ...servers]) {
      const other = servers.find((each) => each !== server) as ServerProcess;
      const before = await minted(other);
      // All clients of the one that ends go to the other one.
      await server.shutdown();
      expect(server.log()).toMatch(/"event":"closed"\}$/);
      await expect.poll(() => minted(other)).toBeGreaterThan(before + 500);
      await server.start();
    }
    await clients.stop();
    const failures = clients.failures.filter((failure) => failure !== 'ECONNREFUSED');
    expect(failures).toEqual([]);
    for (const path of PATHS) {
      expect(clients.ids.get(path)!.length).toBeGreaterThan(1000);
      expect(repeated(clients.ids.get(path)!)).toEqual([]);
    }
  }, 180_000);
});
