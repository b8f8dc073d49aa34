import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Block, memoryStore, NoSuchSequenceError, Sequences, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { createToken } from '../../../../server/src/index.ts';
import { startIdsmith } from '../../../../server/test/support/process.ts';
import { TestServer } from '../../../../server/test/support/server.ts';
import { httpStore } from '../../../src/stores/http/store.ts';
import { notBeside, startLoad } from '../support/runs.ts';

/** `fetch` that counts the statuses of replies. */
function countingFetch(): { fetch: typeof fetch; counts: Map<number, number> } {
  const counts = new Map<number, number>();
  const counting: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    return response;
  };
  return { fetch: counting, counts };
}

/** A store whose `operation` fails `failures` times after it was done, and counts its calls. */
function failing(operation: 'allocate' | 'removeSequence', failures: number) {
  const inner = memoryStore();
  const seen = { calls: 0 };
  const store = {
    ...inner,
    async [operation](...args: [never, never]) {
      const result = await inner[operation](...args);
      if (++seen.calls <= failures) throw new StoreError('the connection was cut');
      return result;
    },
  };
  return { store, seen };
}

describe('The HTTP store', () => {
  it('waits and asks again when its token has asked too often', async () => {
    const tokens = join(mkdtempSync(join(tmpdir(), 'idsmith-retry-')), 'tokens.json');
    const token = await createToken(tokens, { name: 'slow', scopes: ['lease', 'admin'], rate: 10 });
    const server = await TestServer.start({ tokens });
    const { fetch, counts } = countingFetch();
    const store = httpStore(server.url, { token, fetch, timeout: 30_000 });
    await store.defineSequence({ name: 'x', blockSize: 1 });
    const blocks: Block[] = [];
    // A machine that stands still for a second or two lets 25 calls through: until one was refused.
    while (!counts.has(429))
      blocks.push(...(await Promise.all(Array.from({ length: 25 }, () => store.allocate('x', 1)))));
    expect(new Set(blocks.map(({ first }) => first)).size).toBe(blocks.length);
    expect((await store.describeSequence('x')).next).toBe(BigInt(blocks.length) + 1n);
    await server.stop();
    rmSync(dirname(tokens), { recursive: true });
  });

  it('asks again when the server has refused before it did anything, whatever was asked', async () => {
    const { fetch, counts } = countingFetch();
    const inner = memoryStore();
    const refused = () => counts.get(503) ?? 0;
    const slow = {
      ...inner,
      // The first one keeps the others out until they were refused.
      async defineSequence(info: Parameters<typeof inner.defineSequence>[0]) {
        while (refused() < 4) await new Promise(setImmediate);
        await inner.defineSequence(info);
      },
    };
    const server = await TestServer.start({ maxInFlight: 1 }, slow);
    const store = httpStore(server.url, { fetch, timeout: 30_000 });
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map((name) => store.defineSequence({ name })));
    expect((await inner.listSequences()).map(({ name }) => name)).toEqual(names);
    expect(counts.get(201)).toBe(5);
    expect(refused()).toBeGreaterThanOrEqual(4);
    await server.stop();
  });

  it('asks again for blocks when the store behind the server has failed', async () => {
    const { store, seen } = failing('allocate', 1);
    const server = await TestServer.start({}, store);
    const client = httpStore(server.url);
    await client.defineSequence({ name: 'x', blockSize: 5 });
    // The outcome of the first try is not known, so its block is given up.
    expect((await client.allocate('x', 1)).first).toBe(6n);
    expect(seen.calls).toBe(2);
    await server.stop();
  });

  it('never asks again for what may have been done and must not be done twice', async () => {
    const { store, seen } = failing('removeSequence', 1);
    const server = await TestServer.start({}, store);
    const client = httpStore(server.url);
    await client.defineSequence({ name: 'x' });
    await expect(client.removeSequence('x')).rejects.toThrow('the connection was cut');
    expect(seen.calls).toBe(1);
    await expect(client.describeSequence('x')).rejects.toBeInstanceOf(NoSuchSequenceError);
    await server.stop();
  });

  it('gives up when the wait would be longer than its time', async () => {
    let asked = 0;
    const text = '{"code":"RATE_LIMITED","detail":"slow down"}';
    const store = httpStore('http://host', {
      async fetch() {
        asked++;
        return new Response(text, { status: 429, headers: { 'retry-after': '60' } });
      },
    });
    await expect(store.allocate('x', 1)).rejects.toThrow('HTTP 429: slow down');
    expect(asked).toBe(1);
  });

  it('rides through restarts of its server, without an error and without an id twice', async () => {
    const server = await startIdsmith();
    const name = 'orders';
    const options = { timeout: 60_000 };
    await new Sequences(httpStore(server.url)).define(name, { blockSize: 5 });
    const load = startLoad(
      Array.from({ length: 4 }, () => httpStore(server.url, options)),
      name,
    );
    for (let round = 0; round < 3; round++) {
      const before = load.blocks.length;
      await expect.poll(() => load.blocks.length, { interval: 5 }).toBeGreaterThan(before + 100);
      await server.shutdown();
      await server.start();
    }
    const before = load.blocks.length;
    await expect.poll(() => load.blocks.length).toBeGreaterThan(before + 50);
    const blocks = await load.stop();
    expect(load.errors).toEqual([]);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    await server.stop();
  });
});
