import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { dynamodbStore } from 'idsmith/stores/dynamodb';
import { etcdStore } from 'idsmith/stores/etcd';
import { sqliteStore } from 'idsmith/stores/sqlite';
import { Redis } from 'ioredis';
import Database from 'libsql';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer } from '#services';
import { MARKERS } from './markers.ts';

/** A store as a user opens it who may use the records of the store, and do nothing else. */
type Restricted = (url: string) => Promise<Store>;

const TABLES = ['idsmith_leases', 'id_sequences'];

async function restrictedOnPostgres(url: string): Promise<Store> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('REVOKE CREATE ON SCHEMA public FROM public');
  await client.query('CREATE ROLE plain LOGIN');
  await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${TABLES} TO plain`);
  await client.end();
  return openStore(url.replace('postgres@', 'plain@'));
}

async function restrictedOnMariadb(url: string): Promise<Store> {
  const client = await createConnection(url);
  await client.query(`CREATE USER plain IDENTIFIED BY 'secret'`);
  for (const table of TABLES) await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO plain`);
  await client.end();
  return openStore(url.replace('root@', 'plain:secret@'));
}

async function restrictedOnRedis(url: string): Promise<Store> {
  const client = new Redis(url);
  const keys = ['~idsmith:lease:*', '~idsmith:sequence*', '~idsmith:registry'];
  await client.call('ACL', 'SETUSER', 'plain', 'on', '>secret', '+@all', ...keys);
  client.disconnect();
  return openStore(url.replace('redis://', 'redis://plain:secret@'));
}

async function restrictedOnEtcd(url: string): Promise<Store> {
  const endpoint = url.replace('etcd', 'http');
  const ask = async (path: string, body: object): Promise<{ token?: string }> => {
    const response = await fetch(`${endpoint}/v3/auth/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { token?: string };
  };
  for (const name of ['root', 'plain']) {
    await ask('role/add', { name });
    await ask('user/add', { name, password: 'secret' });
    await ask('user/grant', { user: name, role: name });
  }
  for (const folder of ['lease/', 'sequence/', 'past/', 'lineage']) {
    const end = folder.replace(/\/$/, '');
    const range = { key: btoa(`idsmith/${folder}`), range_end: btoa(`idsmith/${end}0`) };
    await ask('role/grant', { name: 'plain', perm: { permType: 'READWRITE', ...range } });
  }
  await ask('enable', {});
  const { token = '' } = await ask('authenticate', { name: 'plain', password: 'secret' });
  return etcdStore({ endpoints: [endpoint], headers: { authorization: token } });
}

/** The server of the tests knows no rights, so the client refuses what a policy of keys would refuse. */
async function restrictedOnDynamodb(url: string): Promise<Store> {
  const { pathname, searchParams } = new URL(url);
  const client = new DynamoDBClient({
    region: 'eu-west-1',
    endpoint: searchParams.get('endpoint') as string,
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      if (JSON.stringify(args.input).includes('"schema"'))
        throw Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
      return next(args);
    },
    { step: 'initialize' },
  );
  return dynamodbStore(client, { table: pathname.slice(1) });
}

const RESTRICTED: Readonly<Record<string, Restricted>> = {
  postgres: restrictedOnPostgres,
  mariadb: restrictedOnMariadb,
  redis: restrictedOnRedis,
  etcd: restrictedOnEtcd,
  dynamodb: restrictedOnDynamodb,
};

for (const [name, needs, start] of STORE_SERVERS) {
  const restricted = RESTRICTED[name];
  if (restricted === undefined) continue;
  await describeWith(needs, `A user of a ${name} store without a right on its marker`, () => {
    let server: StoreServer;
    beforeEach(async () => {
      server = await start();
      await using owner = await openStore(server.url);
      await owner.listLeases('orders');
      await owner.defineSequence({ name: 'orders' });
    });
    afterEach(() => server.stop());

    it('uses leases and sequences as before', async () => {
      const marker = MARKERS[name] as (typeof MARKERS)[string];
      expect(await marker.read(server.url)).toEqual([1, 1]);
      const store = await restricted(server.url);
      const record = { id: 3, owner: 'o', epoch: 1, fence: 1, expiresAt: 1, label: '' };
      expect(await store.swapLease('orders', undefined, record)).toBe(true);
      expect((await store.allocate('orders', 1)).first).toBe(1n);
      expect((await store.listSequences()).map((info) => info.name)).toEqual(['orders']);
      expect(await store.schemaVersion?.()).toEqual({ version: 1, leastReader: 1 });
      await store.close();
    });
  });
}

await describeWith(['postgres'], 'A role in PostgreSQL without a right on the marker', () => {
  it('is refused all the same where the store needs a later library', async () => {
    const [, , start] = STORE_SERVERS.find(([name]) => name === 'postgres')!;
    const server = await start();
    const owner = await openStore(server.url);
    await owner.listLeases('orders');
    await owner.defineSequence({ name: 'orders' });
    await MARKERS.postgres!.write(server.url, [2, 2]);
    const store = await restrictedOnPostgres(server.url);
    await expect(store.allocate('orders', 1)).rejects.toThrow('schema version 2');
    await Promise.all([owner.close(), store.close()]);
    await server.stop();
  });
});

it('A SQLite file without a marker is read on a connection that may not write', async () => {
  const [, , start] = STORE_SERVERS.find(([name]) => name === 'sqlite')!;
  const server = await start();
  const path = server.url.slice('sqlite:'.length);
  const owner = await openStore(server.url);
  await owner.defineSequence({ name: 'orders' });
  await owner.listLeases('orders');
  const writable = new Database(path);
  writable.exec('DROP TABLE idsmith_schema');
  const db = new Database(path);
  db.exec('PRAGMA query_only = ON');
  const store = sqliteStore(db);
  expect(await store.listLeases('orders')).toEqual([]);
  expect((await store.describeSequence('orders')).next).toBe(1n);
  for (const each of [db, writable]) each.close();
  await owner.close();
  await server.stop();
});
