import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { acquireLease } from 'idsmith';
import { connect } from 'idsmith/connect';
import { markRestored, openStore } from 'idsmith/stores';
import { libsqlStore } from 'idsmith/stores/libsql';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerProcess } from '../services/process.ts';
import { startSqld, startSqldPair } from './sqld.ts';

type Store = Awaited<ReturnType<typeof openStore>>;

describe.each([
  ['a server', async () => [await startSqld()]],
  ['a replica, beside its primary', () => startSqldPair()],
])('A store in libSQL on %s', (_, start) => {
  let servers: ServerProcess[];
  let store: Store;
  beforeAll(async () => {
    servers = await start();
    store = await openStore(servers.at(-1)!.url);
  });
  afterAll(async () => {
    await store?.close();
    for (const server of servers ?? []) await server.stop();
  });

  for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);

  it('keeps a series without gaps, with its log', async () => {
    const ids = await connect(servers.at(-1)!.url);
    const invoices = await ids.series('invoices', { format: 'INV-{n:4}', audit: true });
    const numbers = await Promise.all(Array.from({ length: 10 }, () => invoices.next()));
    expect(numbers.sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => `INV-${String(i + 1).padStart(4, '0')}`),
    );
    expect(await invoices.list()).toHaveLength(10);
    await ids.close();
  });

  it('reads at one client what another one has just written', async () => {
    const other = await openStore(servers[0]!.url);
    for (let i = 0; i < 20; i++) {
      await other.defineSequence({ name: `written ${i}` });
      expect(await store.describeSequence(`written ${i}`)).toMatchObject({ next: 1n });
    }
    await other.close();
  });
});

describe('A store in libSQL', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startSqld();
  });
  afterAll(() => server?.stop());

  it('repeats no number and no flake while its server is killed and comes back', async () => {
    const seen: string[] = [];
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      const ids = await connect(server.url);
      const orders = await ids.sequence('killed', { define: { blockSize: 5 } });
      while (!isOver)
        await orders.next().then(
          (id) => seen.push(String(id)),
          () => undefined,
        );
      await ids.close().catch(() => undefined);
    });
    try {
      for (let kills = 0; kills < 3; kills++) {
        const before = seen.length;
        await expect.poll(() => seen.length).toBeGreaterThan(before + 50);
        await server.kill();
        await server.restart();
      }
    } finally {
      // Clients that go on would be in the way of the other tests.
      isOver = true;
      await Promise.all(clients);
    }
    expect(seen.length).toBeGreaterThan(150);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('repeats nothing after its database went back to an earlier moment, and a person has said so', async () => {
    const client = createClient({ url: server.url });
    const tables = ['id_sequences', 'idsmith_pasts', 'idsmith_leases'];
    const before = await openStore(server.url);
    await before.defineSequence({ name: 'restored', blockSize: 10 });
    await before.allocate('restored', 1);
    const holder = await acquireLease(before, { namespace: 'restored', size: 4 });
    for (const table of tables)
      await client.execute(`CREATE TABLE "${table} then" AS SELECT * FROM ${table}`);
    const lost = await before.allocate('restored', 50);
    await acquireLease(before, { namespace: 'restored', size: 4 });
    // As a restore does it: under the feet of everybody, with nothing that tells.
    for (const table of tables) {
      await client.execute(`DELETE FROM ${table}`);
      await client.execute(`INSERT INTO ${table} SELECT * FROM "${table} then"`);
    }
    const after = await openStore(server.url);
    const told = await markRestored(after);
    const next = told.sequences.find(({ name }) => name === 'restored')?.next;
    expect(next).toBeGreaterThanOrEqual(lost.first + 500n);
    expect((await after.allocate('restored', 1)).first).toBe(next);
    // The second holder of above is forgotten, and nobody gets its node id while its window lasts.
    await expect(acquireLease(after, { namespace: 'restored', size: 4, waitFor: 0 })).rejects.toMatchObject({
      code: 'LEASES_EXHAUSTED',
    });
    expect(holder.id).toBe(0);
    await Promise.all([before.close(), after.close()]);
    client.close();
  });

  it('adds the columns that a table of another program lacks', async () => {
    const client = createClient({ url: server.url });
    await client.execute('DROP TABLE IF EXISTS id_sequences');
    await client.execute(`CREATE TABLE id_sequences (name VARCHAR(255) PRIMARY KEY, next_block_start DECIMAL(12,0) NOT NULL,
      block_size DECIMAL(10,0) NOT NULL, exhausted DECIMAL(1,0) DEFAULT 0)`);
    await client.execute(
      `INSERT INTO id_sequences (name, next_block_start, block_size) VALUES ('old', 500, 10)`,
    );
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(server.url)));
    const blocks = await Promise.all(stores.map((store) => store.allocate('old', 1)));
    expect(blocks.map(({ first }) => Number(first)).sort()).toEqual([500, 510, 520, 530, 540]);
    await Promise.all(stores.map((store) => store.close()));
    client.close();
  });

  it('refuses a client of a file, which may be a replica', () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-libsql-'));
    const client = createClient({ url: `file:${join(folder, 'x.db')}` });
    expect(() => libsqlStore(client as never)).toThrow(
      /may be a replica with old leases \(syncUrl\).* sqliteStore/,
    );
    client.close();
    rmSync(folder, { recursive: true });
  });

  it('names the server that does not answer, and hides its token', async () => {
    const store = await openStore('libsql://127.0.0.1:2?tls=0&authToken=secret');
    const failure = await store.listLeases('x').catch((error: unknown) => error as Error);
    expect((failure as Error).message).toMatch(/^libsql store: listing leases at 127\.0\.0\.1:2 failed/);
    expect((failure as Error).message).not.toContain('secret');
    await store.close();
  });

  it.each(['libsql://user@host', 'libsql:', 'libsql://host?authTokn=x'])('refuses %s', async (url) => {
    await expect(openStore(url)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});
