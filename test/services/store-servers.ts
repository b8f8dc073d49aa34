import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceName } from './binaries.ts';
import { startDynalite } from './dynalite.ts';
import { startEtcd } from './etcd.ts';
import { startMariadb } from './mariadb.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

/** A store that `openStore` opens. */
export interface StoreServer {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** Every store that outlives a process: what it needs, and how it is started. */
export const STORE_SERVERS: readonly [
  name: string,
  needs: ServiceName[],
  start: () => Promise<StoreServer>,
][] = [
  ['sqlite', [], startSqlite],
  ['postgres', ['postgres'], () => startPostgres()],
  ['mariadb', ['mariadb'], () => startMariadb()],
  ['redis', ['redis'], () => startRedis()],
  ['dynamodb', [], startDynamodb],
  ['etcd', ['etcd'], startOneEtcd],
];

async function startSqlite(): Promise<StoreServer> {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-sqlite-'));
  return {
    url: `sqlite:${join(folder, 'ids.db')}`,
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function startDynamodb(): Promise<StoreServer> {
  // It takes any, but the driver wants some.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  const server = await startDynalite();
  return { url: `dynamodb://eu-west-1/ids?endpoint=${server.url}`, stop: () => server.stop() };
}

async function startOneEtcd(): Promise<StoreServer> {
  const etcd = await startEtcd();
  return { url: etcd.endpoints[0]!.replace('http', 'etcd'), stop: () => etcd.stop() };
}
