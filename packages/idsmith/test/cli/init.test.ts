import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLease } from 'idsmith';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWith,
  type RedisServer,
  SHARED_STORES,
  type StoreServer,
  shared,
  startRedis,
} from '#services';
import { openStore } from '../../src/stores/open.ts';
import { idsmith } from './in-process.ts';

const LEASE = { namespace: 'orders', size: 4, ttl: 1000 };

for (const [name, needs, start] of SHARED_STORES.filter(([name]) => /^(sqlite|postgres)$/.test(name)))
  await describeWith(needs, `idsmith init and restored on ${name}`, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());

    it('make the tables, and tell a new store from one that is used', async () => {
      const made = await idsmith('init', '--store', server.url);
      expect(made).toMatchObject({ status: 0, lines: [expect.stringContaining('the store is ready')] });
      expect((await idsmith('init', '--store', server.url)).status).toBe(0);
      await idsmith('seq', 'define', 'orders', '--store', server.url);
      const refused = await idsmith('init', '--store', server.url);
      expect(refused).toMatchObject({ status: 2, stdout: '' });
      expect(refused.stderr).toContain('the store is not new (sequences: 1');
      expect((await idsmith('init', '--yes', '--store', server.url)).status).toBe(0);
    });

    it('make leases wait after a restore, and tell of every sequence', async () => {
      await using store = await openStore(server.url);
      await (await acquireLease(store, LEASE)).release();
      const asked = await idsmith('restored', '--store', server.url);
      expect(asked).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
      const before = Date.now();
      const { status, stdout } = await idsmith('restored', '--yes', '--json', '--store', server.url);
      expect(status).toBe(0);
      const { namespaces, sequences } = JSON.parse(stdout);
      expect(namespaces).toMatchObject([{ namespace: 'orders' }]);
      expect(namespaces[0].waitsUntil).toBeGreaterThanOrEqual(before + 50_000);
      expect(sequences).toHaveLength(1);
      const waiting = acquireLease(store, { ...LEASE, waitFor: 100 });
      await expect(waiting).rejects.toMatchObject({ code: 'LEASES_EXHAUSTED' });
      // A command that was killed is run again.
      expect((await idsmith('restored', '--yes', '--store', server.url)).status).toBe(0);
    });

    it('make new sequences begin further on after a restore, until somebody says that none is missing', async () => {
      const on = ['--store', server.url];
      await idsmith('init', '--yes', ...on);
      expect((await idsmith('restored', '--yes', ...on)).lines.at(-1)).toContain('further on');
      expect(await idsmith('init', ...on)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('--yes'),
      });
      const ahead = await idsmith('seq', 'define', 'ahead', ...on);
      expect(ahead.lines).toContainEqual(expect.stringMatching(/^next +20001$/));
      expect(ahead.stderr).toMatch(/"ahead" .* begins at 20001 and not at 1\. .*idsmith init/);
      const made = await idsmith('init', '--yes', ...on);
      expect(made.lines.at(-1)).toBe('sequences that it does not have are new: they begin at their start');
      const fresh = await idsmith('seq', 'define', 'fresh', ...on);
      expect(fresh).toMatchObject({ status: 0, stderr: '' });
      expect(fresh.lines).toContainEqual(expect.stringMatching(/^next +1$/));
    });
  });

describe('idsmith init', () => {
  it('is not for a server', async () => {
    for (const command of ['init', 'restored'])
      expect(await idsmith(command, '--store', 'http://localhost:7600')).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('name the store of the server'),
      });
  });

  it('prints the tables of a SQLite file, and makes none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-init-'));
    const printed = await idsmith('init', '--print', '--store', `sqlite:${folder}/ids.db`);
    expect(printed.stdout).toContain('CREATE TABLE IF NOT EXISTS id_sequences');
    expect((await idsmith('seq', 'list', '--store', `sqlite:${folder}/ids.db`)).status).toBe(1);
    rmSync(folder, { recursive: true });
  });
});

await describeWith(['postgres'], 'What idsmith init --print prints for PostgreSQL', () => {
  it('is enough for a role that may create nothing', async () => {
    const server = await shared('postgres');
    const owner = new pg.Client({ connectionString: server.url });
    await owner.connect();
    await owner.query('CREATE ROLE app LOGIN');
    await owner.query('REVOKE CREATE ON SCHEMA public FROM public');
    const { stdout } = await idsmith('init', '--print', '--store', server.url);
    await owner.query(stdout);
    const url = server.url.replace(/\/\/[^@]*@/, '//app@');
    expect((await idsmith('seq', 'define', 'orders', '--store', url)).status).toBe(0);
    expect((await idsmith('seq', 'next', 'orders', '--store', url)).stdout).toBe('1\n');
    expect((await idsmith('flake', '--store', url)).status).toBe(0);
    await owner.query('DROP OWNED BY app');
    await owner.query('DROP ROLE app');
    await owner.end();
    await server.stop();
  });
});

await describeWith(['redis'], 'idsmith init and restored on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  const onRedis = (...words: string[]) => idsmith(...words, '--store', server.url);

  it('let nobody define a sequence before, and everybody afterwards', async () => {
    const refused = await onRedis('seq', 'define', 'orders', '--if-missing');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/idsmith init was never run on this Redis.*npx idsmith init --store URL/);
    const { lines } = await onRedis('init');
    expect(lines[1]).toContain('the first lease waits for nothing');
    expect((await onRedis('seq', 'define', 'orders', '--if-missing')).status).toBe(0);
    expect((await onRedis('seq', 'next', 'orders')).stdout).toBe('1\n');
    expect((await onRedis('flake')).status).toBe(0);
  });

  it('tell what a Redis that came back empty has lost, and how to go on', async () => {
    await server.command('DEL', 'idsmith:sequence:{orders}');
    const lost = await onRedis('seq', 'define', 'orders', '--if-missing');
    expect(lost.stderr).toMatch(/sequence "orders" is lost: .*idsmith seq define NAME --start BEYOND --lost/);
    expect((await onRedis('seq', 'define', 'orders', '--lost')).status).toBe(2);
    expect((await onRedis('seq', 'define', 'orders', '--lost', '--start', '100')).status).toBe(0);
    expect((await onRedis('seq', 'next', 'orders')).stdout).toBe('100\n');
  });

  it('stop each sequence until somebody has said where it goes on', async () => {
    const { status, stdout } = await onRedis('restored', '--yes');
    expect(status).toBe(0);
    expect(stdout).toMatch(/jflake waits until 2/);
    expect(stdout).toContain(
      'sequence orders needs you: npx idsmith seq alter orders --next BEYOND --store URL',
    );
    expect((await onRedis('seq', 'next', 'orders')).stderr).toContain('may have forgotten ids');
    expect((await onRedis('seq', 'alter', 'orders', '--next', '500')).status).toBe(0);
    expect((await onRedis('seq', 'next', 'orders')).stdout).toBe('500\n');
  });

  it('move all sequences on with one command after a clean restart', async () => {
    await onRedis('seq', 'define', 'users', '--start', '10');
    expect((await onRedis('restored', '--yes')).stdout).toContain('npx idsmith restored --skip N');
    const { status, stdout } = await onRedis('restored', '--skip', '0', '--yes');
    expect(status).toBe(0);
    expect(stdout).toMatch(/sequence orders continues at \d+\nsequence users continues at \d+/);
    expect(stdout).not.toContain('needs you');
    expect(Number((await onRedis('seq', 'next', 'orders')).stdout)).toBeGreaterThan(500);
    expect(Number((await onRedis('seq', 'next', 'users')).stdout)).toBeGreaterThan(9);
    // Numbers up to the end may have been given out: no number of the range is safe.
    expect((await onRedis('seq', 'alter', 'users', '--max', '500')).status).toBe(0);
    const ended = await onRedis('restored', '--skip', '1000', '--yes');
    expect(ended.stdout).toContain('sequence orders continues at');
    expect(ended.stdout).toContain('sequence users needs you');
  });

  it('need no --yes for a Redis without sequences, though programs came before', async () => {
    await server.restart();
    const { connect } = await import('idsmith/connect');
    const ids = await connect(server.url);
    const expected =
      `idsmith init was never run on this store, or it has lost its data. If it is new, run once: npx idsmith init --store ${server.url}. ` +
      `If it has lost data, run: npx idsmith restored --store ${server.url}`;
    await expect(ids.flakes('orders')).rejects.toThrow(expected);
    await expect(ids.flakes('orders')).rejects.toMatchObject({ reason: 'NOT_INITIALISED' });
    await expect(ids.sequence('invoices', { define: {} })).rejects.toThrow(expected);
    await expect(ids.uuid7('events')).rejects.toThrow(expected);
    expect((await onRedis('init')).status).toBe(0);
    (await ids.flakes('orders')).next();
    expect(await (await ids.sequence('invoices', { define: {} })).next()).toBe(1n);
    await ids.close();
    const again = await onRedis('init');
    expect([again.status, again.stderr]).toEqual([
      2,
      expect.stringContaining(
        'the store is not new (sequences: 1). If it has lost data, run npx idsmith restored --store URL instead. If nothing is missing, go on. ' +
          'To go on, run the command again with --yes',
      ),
    ]);
  });

  it('are asked for again after a restart', async () => {
    await server.restart();
    const refused = await onRedis('seq', 'define', 'others');
    expect(refused.stderr).toContain('idsmith init --store URL');
    await onRedis('init');
    await server.restart({ empty: false });
    expect((await onRedis('seq', 'define', 'others')).status).toBe(1);
  });
});

await describeWith(['redis'], 'A lower maxTtl in a URL', () => {
  it('is enough for a command, without a ttl', async () => {
    const server = await shared('redis');
    const { status, lines } = await idsmith('flake', '--store', `${server.url}?maxTtl=10000`);
    expect([status, lines.length]).toEqual([0, 1]);
    await server.stop();
  });
});
