import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceName } from './binaries.ts';
import { startDynalite } from './dynalite.ts';
import { startEtcd } from './etcd.ts';
import { startMariadb } from './mariadb.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { shared } from './shared.ts';
import type { SharedName } from './shared-servers.ts';

/** A store that `openStore` opens. */
export interface StoreServer {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** A store that outlives a process: what it needs, and how it is started. */
type Named = [name: string, needs: ServiceName[], start: () => Promise<StoreServer>];

/** Every such store, in a server of its own. */
export const STORE_SERVERS: readonly Named[] = [
  ['sqlite', [], startSqlite],
  ['postgres', ['postgres'], () => startPostgres()],
  ['mariadb', ['mariadb'], () => startMariadb()],
  ['redis', ['redis'], async () => initialised(await startRedis())],
  ['dynamodb', [], startDynamodb],
  ['etcd', ['etcd'], startOneEtcd],
];

/** The same stores, each in a place of its own in the servers of the run. */
export const SHARED_STORES = STORE_SERVERS.map(
  ([name, needs, start]): Named => [
    name,
    needs,
    name === 'sqlite' ? start : () => shared(name as SharedName),
  ],
);

/** The server of a new store, which can forget: `idsmith init` says that it is new. */
export async function initialised<Server extends { readonly url: string }>(server: Server): Promise<Server> {
  const { initStore, openStore } = await import('idsmith/stores');
  await using store = await openStore(server.url);
  await initStore(store);
  return server;
}

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
