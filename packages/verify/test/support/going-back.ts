import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Balancer } from '#services/balancer.ts';
import { startPostgres } from '#services/postgres.ts';
import type { ServerProcess } from '#services/process.ts';
import { FaultyProxy } from '../../src/proxy/faulty-proxy.ts';
import { type TrialStore, TTL } from '../../src/runs/trial-store.ts';

// Stores that lose what they have acknowledged in the last seconds, under the feet of processes that mint.

/** The time whose writes are lost, ms: longer than a lease. */
const LOST = 1.5 * TTL;

/** The longest wait for windows that the store may have forgotten, ms. Another loss before its end would begin the wait again. */
const WAIT_MS = 60_000;

/** One file for all processes. An older copy takes its place, and whoever has the newer one open must be started again. */
export async function startReplacedSqlite(folder: string): Promise<TrialStore> {
  const { default: Database } = await import('libsql');
  const [file, copy] = [join(folder, 'store.db'), join(folder, 'copy.db')];
  return {
    target: { url: `sqlite:${file}` },
    proxies: [],
    faults: {
      'store went back': async (workers) => {
        const db = new Database(file);
        db.exec(`VACUUM INTO '${copy}'`);
        db.close();
        await sleep(LOST);
        // At once, so that no process opens one without the other.
        for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
        renameSync(copy, file);
        await sleep(LOST);
        await workers.replaceAll();
        await workers.untilMinting(1, WAIT_MS);
      },
    },
    async stop() {},
  };
}

/** A server whose asynchronous standby is promoted in its place, without the last writes. */
export async function startPromotedPostgres(): Promise<TrialStore> {
  let primary = await startPostgres();
  const balancer = await Balancer.open(() => primary);
  const proxy = await FaultyProxy.before(balancer.port);
  return {
    target: { url: primary.url.replace(`:${primary.port}`, `:${proxy.port}`) },
    proxies: [proxy],
    faults: {
      'store went back': async (workers) => {
        const [old, standby] = [primary, await startPostgres({ from: { server: primary, as: 'standby' } })];
        await run(standby, `ALTER SYSTEM SET primary_conninfo = ''`, 'SELECT pg_reload_conf()');
        await sleep(LOST);
        await old.kill();
        await run(standby, 'SELECT pg_promote()');
        primary = standby;
        await old.stop();
        await workers.untilMinting(1, WAIT_MS);
      },
    },
    async stop() {
      await proxy.close();
      balancer.close();
      await primary.stop();
    },
  };
}

async function run({ url }: ServerProcess, ...statements: readonly string[]): Promise<void> {
  const client = new Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
