import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from 'idsmith/stores';
import { describe, expect, it } from 'vitest';
import { startIdsmith } from './support/process.ts';

const headers = { 'content-type': 'application/json' };
const body = '{"name":"x","blockSize":50}';

describe('A server on a SQLite file', () => {
  it('is not ready, and gives no ids of a sequence, once the file is gone', async () => {
    const server = await startIdsmith();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await fetch(`${server.url}/v1/sequences`, { method: 'POST', headers, body });
    rmSync(join(server.dir, 'ids.db'));
    const readiness = async () => {
      const answer = await fetch(`${server.url}/readyz`);
      return { status: answer.status, text: await answer.text() };
    };
    await expect.poll(readiness).toMatchObject({ status: 503 });
    // Anybody may ask: the reason, with the path of the file, is in the log.
    expect((await readiness()).text).not.toContain('ids.db');
    expect(server.log()).toMatch(/"event":"not ready".*has been removed or replaced/);
    const drawn = await fetch(`${server.url}/v1/sequences/x/next`, { method: 'POST' });
    expect(drawn.status).toBe(503);
    await server.stop();
  });

  it('leaves everything in the one file when it ends', async () => {
    const server = await startIdsmith();
    await fetch(`${server.url}/v1/sequences`, { method: 'POST', headers, body });
    await fetch(`${server.url}/v1/sequences/x/next?count=3`, { method: 'POST' });
    await server.shutdown();
    const copy = join(server.dir, 'copy.db');
    copyFileSync(join(server.dir, 'ids.db'), copy);
    const store = await openStore(`sqlite:${copy}`);
    expect((await store.describeSequence('x')).next).toBe(4n);
    expect((await store.listLeases('jflake')).length).toBeGreaterThan(0);
    await store.close();
    await server.stop();
  });
});
