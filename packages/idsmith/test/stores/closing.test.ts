import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ClosedError, type DisposableStore, memoryStore, StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import Libsql from 'libsql';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, SHARED_STORES, type StoreServer } from '#services';
import { dynamodbStore } from '../../src/stores/dynamodb/store.ts';
import { httpStore } from '../../src/stores/http/store.ts';
import { makeStore } from '../../src/stores/make-store.ts';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { openStore } from '../../src/stores/open.ts';
import { postgresStore } from '../../src/stores/postgres/store.ts';
import { redisStore } from '../../src/stores/redis/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';

const RECORD = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** A call of every method of a store. */
const CALLS: Record<string, (store: DisposableStore) => Promise<unknown> | undefined> = {
  now: (store) => store.now?.(),
  schemaVersion: (store) => store.schemaVersion?.(),
  namespaces: (store) => store.namespaces?.(),
  listLeases: (store) => store.listLeases('x'),
  swapLease: (store) => store.swapLease('x', undefined, RECORD),
  readLeases: (store) => store.readLeases?.('x', 0, 64),
  claimLease: (store) => store.claimLease?.('x', undefined, RECORD, RECORD),
  defineSequence: (store) => store.defineSequence({ name: 'x' }),
  alterSequence: (store) => store.alterSequence('x', { blockSize: 5 }),
  describeSequence: (store) => store.describeSequence('x'),
  listSequences: (store) => store.listSequences(),
  removeSequence: (store) => store.removeSequence('x'),
  allocate: (store) => store.allocate('x', 1),
  removeTrial: (store) => store.removeTrial?.('idsmith-verify/x'),
  moment: (store) => store.moment?.('x'),
  isNewNamespace: (store) => store.isNewNamespace?.('x'),
  restoreSequence: (store) => store.restoreSequence?.('x'),
  confirmNames: (store) => store.confirmNames?.(),
  doubtNames: (store) => store.doubtNames?.(),
  areNamesDoubted: (store) => store.areNamesDoubted?.(),
  trust: (store) => store.trust?.('x'),
  giveBack: (store) => store.giveBack?.('x', { first: 1n, step: 1, count: 1 }),
};

/** Members that tell what was seen, and ask the store for nothing. */
const AT_ONCE = ['warnings', 'lineageRead', 'settled', 'noteTaken'];

async function expectClosed(store: DisposableStore): Promise<void> {
  const methods = Object.entries(store).filter(([, value]) => typeof value === 'function');
  for (const [name] of methods.filter(([method]) => method !== 'close'))
    if (!AT_ONCE.includes(name)) await expect(CALLS[name]?.(store), name).rejects.toThrow(ClosedError);
}

let events: unknown[] = [];
const listen = (message: unknown) => events.push(message);
beforeEach(() => {
  events = [];
  subscribe('idsmith:store', listen);
});
afterEach(() => unsubscribe('idsmith:store', listen));

for (const [name, needs, start] of SHARED_STORES)
  await describeWith(needs, `The ${name} store of a URL`, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());

    it('closes once, refuses every call afterwards, and tells its channel', async () => {
      const store = await openStore(server.url);
      expect(await store.swapLease('x', undefined, RECORD)).toBe(true);
      await Promise.all([store.close(), store.close(), store[Symbol.asyncDispose]()]);
      await expectClosed(store);
      const kind = name === 'mariadb' ? 'mysql' : name;
      expect(events).toEqual([
        { event: 'opened', store: kind },
        { event: 'closed', store: kind },
      ]);
    });

    it('is closed by a copy of it, too', async () => {
      const store = await openStore(server.url);
      const copy = { ...store };
      await copy[Symbol.asyncDispose]();
      await expectClosed(store);
      await expectClosed(copy);
    });

    it('closes before it was used', async () => {
      const store = await openStore(server.url);
      await store.close();
      await expectClosed(store);
    });
  });

describe('A store that is closed', () => {
  it('in memory refuses every call', async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'x' });
    await store.close();
    await expectClosed(store);
    await expect(store.allocate('x', 1)).rejects.toThrow('the memory store is closed: open another one');
  });

  it('behind a server sends nothing', async () => {
    let requests = 0;
    const fetch = async () => {
      requests++;
      return Response.json({});
    };
    const store = httpStore('http://127.0.0.1:7600', { fetch });
    await store.close();
    await expectClosed(store);
    expect(requests).toBe(0);
  });

  it('keeps the properties that it learns later', async () => {
    let durable = false;
    const { listLeases, swapLease, ...others } = memoryStore();
    const store = makeStore('http', {
      ...others,
      listLeases,
      swapLease,
      get durable() {
        return durable;
      },
    });
    durable = true;
    expect(store.durable).toBe(true);
    await store.close();
    expect(store.durable).toBe(true);
  });

  it('says why its client did not end, and stays closed', async () => {
    const store = makeStore('postgres', memoryStore(), {
      end: () => Promise.reject(new Error('no end of postgres://app:hunter2@db')),
    });
    const failure = await store.close().catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toBe('closing the postgres store failed: no end of postgres://***@db');
    await expect(store.close()).rejects.toBe(failure);
    await expectClosed(store);
    expect(events).toContainEqual({ event: 'error', store: 'postgres', operation: 'close', error: failure });
  });
});

describe('The channel of stores', () => {
  it('carries failures, and not the answers that a sequence is missing or exists', async () => {
    const failure = new StoreError('away');
    const inner = memoryStore();
    const store = makeStore('etcd', {
      ...inner,
      listLeases: () => Promise.reject(failure),
      now: () => Promise.reject(new TypeError('a defect')),
    });
    events = [];
    await expect(store.listLeases('x')).rejects.toBe(failure);
    await expect(store.now?.()).rejects.toThrow('a defect');
    await expect(store.describeSequence('x')).rejects.toThrow('there is no sequence');
    await store.close();
    await expect(store.describeSequence('x')).rejects.toThrow(ClosedError);
    expect(events).toEqual([
      { event: 'error', store: 'etcd', operation: 'listLeases', error: failure },
      { event: 'error', store: 'etcd', operation: 'now', error: new TypeError('a defect') },
      { event: 'closed', store: 'etcd' },
    ]);
  });
});

/** A client that a user made: its store, a use of the client, and its end. */
interface UsersClient {
  readonly store: DisposableStore;
  readonly use: () => unknown;
  readonly end: () => unknown;
}

const CLIENTS: Record<string, readonly [server: string, make: (url: string) => Promise<UsersClient>]> = {
  pg: [
    'postgres',
    async (url) => {
      const pool = new Pool({ connectionString: url });
      return { store: postgresStore(pool), use: () => pool.query('SELECT 1'), end: () => pool.end() };
    },
  ],
  mysql2: [
    'mariadb',
    async (url) => {
      const pool = createPool(url);
      return { store: mysqlStore(pool), use: () => pool.query('SELECT 1'), end: () => pool.end() };
    },
  ],
  ioredis: [
    'redis',
    async (url) => {
      const client = new Redis(url);
      return { store: redisStore(client), use: () => client.ping(), end: () => client.disconnect() };
    },
  ],
  redis: [
    'redis',
    async (url) => {
      const client = createClient({ url });
      await client.connect();
      return { store: redisStore(client), use: () => client.ping(), end: () => client.destroy() };
    },
  ],
  libsql: [
    'sqlite',
    async (url) => {
      const db = new Libsql(url.replace('sqlite:', ''));
      return { store: sqliteStore(db), use: () => db.exec('SELECT 1'), end: () => db.close() };
    },
  ],
  dynamodb: [
    'dynamodb',
    async (url) => {
      const endpoint = url.replace(/.*endpoint=/, '');
      const client = new DynamoDBClient({ endpoint, region: 'eu-west-1' });
      const store = dynamodbStore(client, { table: 'ids' });
      const again = dynamodbStore(client, { table: 'ids' });
      return { store, use: () => again.listLeases('x'), end: () => client.destroy() };
    },
  ],
};

for (const [driver, [server, make]] of Object.entries(CLIENTS)) {
  const [, needs, start] = SHARED_STORES.find(([name]) => name === server)!;
  await describeWith(needs, `A store on a client of ${driver}`, () => {
    it('leaves the client open when it is closed', async () => {
      const running = await start();
      const { store, use, end } = await make(running.url);
      expect(await store.listLeases('x')).toEqual([]);
      await store.close();
      await expectClosed(store);
      await use();
      await end();
      await running.stop();
    });
  });
}
