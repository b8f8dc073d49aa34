import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { Balancer } from '#services/balancer.ts';
import { startMariadb } from '#services/mariadb.ts';
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

/** A PostgreSQL whose asynchronous standby is promoted in its place, without the last writes. */
export const startPromotedPostgres = (): Promise<TrialStore> =>
  startPromoted({
    start: () => startPostgres(),
    async fallBehind(primary) {
      const standby = await startPostgres({ from: { server: primary, as: 'standby' } });
      await run(standby, `ALTER SYSTEM SET primary_conninfo = ''`, 'SELECT pg_reload_conf()');
      return standby;
    },
    promote: (standby) => run(standby, 'SELECT pg_promote()'),
  });

/** A MariaDB whose asynchronous replica is promoted in its place, without the last writes. */
export function startPromotedMariadb(): Promise<TrialStore> {
  let servers = 0;
  const start = () =>
    startMariadb({ args: [`--server-id=${++servers}`, '--log-bin=bin', '--log-slave-updates'] });
  return startPromoted({
    start,
    async fallBehind(primary) {
      const replica = await start();
      const source = `MASTER_HOST = '127.0.0.1', MASTER_PORT = ${primary.port}, MASTER_USER = 'root'`;
      const position = await askMariadb(primary, 'SELECT @@gtid_binlog_pos');
      await askMariadb(
        replica,
        `CHANGE MASTER TO ${source}, MASTER_USE_GTID = slave_pos`,
        'START SLAVE',
        `SELECT MASTER_GTID_WAIT('${position}', 60)`,
        'STOP SLAVE',
      );
      return replica;
    },
    async promote() {},
  });
}

/** A kind of server whose replicas can take its place. */
interface Promotable {
  start(): Promise<ServerProcess>;
  /** Starts a replica that has what the primary has now, and gets nothing more. */
  fallBehind(primary: ServerProcess): Promise<ServerProcess>;
  promote(replica: ServerProcess): Promise<void>;
}

async function startPromoted({ start, fallBehind, promote }: Promotable): Promise<TrialStore> {
  let primary = await start();
  const balancer = await Balancer.open(() => primary);
  const proxy = await FaultyProxy.before(balancer.port);
  return {
    target: { url: primary.url.replace(`:${primary.port}`, `:${proxy.port}`) },
    proxies: [proxy],
    faults: {
      'store went back': async (workers) => {
        const [old, replica] = [primary, await fallBehind(primary)];
        await sleep(LOST);
        await old.kill();
        await promote(replica);
        primary = replica;
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

/** The first value of the last answer. */
async function askMariadb({ url }: ServerProcess, ...statements: readonly string[]): Promise<unknown> {
  const client = await createConnection(url);
  let rows: unknown;
  for (const statement of statements) [rows] = await client.query(statement);
  await client.end();
  return Array.isArray(rows) ? Object.values(rows[0] as object)[0] : undefined;
}
