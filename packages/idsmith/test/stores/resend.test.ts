import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Redis } from 'ioredis';
import Libsql from 'libsql';
import { createPool, type Pool as MysqlPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWith,
  type Etcd,
  initialised,
  type RedisServer,
  type ServerProcess,
  startEtcd,
  startMariadb,
  startPostgres,
  startRedis,
} from '#services';
import { FaultyProxy } from '../../../verify/src/proxy/faulty-proxy.ts';
import { partOf } from '../../src/sequence/block.ts';
import { defineRow, takeBlocks } from '../../src/sequence/blocks.ts';
import { dynamodbStore } from '../../src/stores/dynamodb/store.ts';
import { etcdStore } from '../../src/stores/etcd/store.ts';
import { memoryRows } from '../../src/stores/memory/store.ts';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { postgresStore } from '../../src/stores/postgres/store.ts';
import { type IoredisClient, redisStore } from '../../src/stores/redis/store.ts';
import type { SqliteValue } from '../../src/stores/sqlite/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';
import { resendCases } from './support/resend-cases.ts';
import { notBeside } from './support/runs.ts';

/** Remembers how to send the last change again. */
function recorder() {
  let last: (() => unknown) | undefined;
  return {
    record: (again: () => unknown) => {
      last = again;
    },
    // What a condition refuses is an error of some clients.
    resend: async () => {
      expect(last).toBeDefined();
      await Promise.resolve(last!()).catch(() => {});
    },
  };
}

/** Statements that change a row of a sequence. */
const CHANGES = /(UPDATE|DELETE FROM|INSERT INTO) id_sequences/;

describe('a change that reaches memory twice', () => {
  it('is made once', async () => {
    const rows = memoryRows();
    const row = defineRow({ name: 'x', blockSize: 10 }, 1);
    await rows.insert(row);
    const taken = { ...takeBlocks(row, 1).row, mark: '1' };
    const returned = { ...row, mark: '2' };
    expect([await rows.swap(row, taken), await rows.swap(taken, returned)]).toEqual([true, true]);
    expect(await rows.swap(row, taken)).toBe(false);
  });
});

describe('a change that reaches SQLite twice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-resend-'));
  let files = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  resendCases(async () => {
    const file = join(folder, `${files++}.db`);
    const [one, two] = [new Libsql(file), new Libsql(file)];
    const { record, resend } = recorder();
    const watched = sqliteStore({
      exec: (sql) => one.exec(sql),
      prepare: (sql) => {
        const statement = one.prepare(sql);
        const all = (...values: SqliteValue[]) => {
          if (CHANGES.test(sql)) record(() => one.prepare(sql).all(...values));
          return statement.all(...values);
        };
        return { all, run: (...values) => statement.run(...values) };
      },
    });
    const close = async () => [one, two].map((db) => db.close());
    return { watched, other: sqliteStore(two), resend, close };
  });
});

await describeWith(['postgres'], 'a change that reaches PostgreSQL twice', () => {
  let server: ServerProcess;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  resendCases(async () => {
    const { record, resend } = recorder();
    const watched = postgresStore({
      query: (text, values) => {
        if (CHANGES.test(text)) record(() => pool.query(text, values));
        return pool.query(text, values);
      },
    });
    return { watched, other: postgresStore(pool), resend, close: async () => {} };
  });
});

await describeWith(['mariadb'], 'a change that reaches MariaDB twice', () => {
  let server: ServerProcess;
  let pool: MysqlPool;
  beforeAll(async () => {
    server = await startMariadb();
    pool = createPool({ uri: server.url });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  resendCases(async () => {
    const { record, resend } = recorder();
    const watched = mysqlStore({
      query: (sql, values) => {
        if (CHANGES.test(sql)) record(() => pool.query(sql, values));
        return pool.query(sql, values);
      },
    });
    return { watched, other: mysqlStore(pool), resend, close: async () => {} };
  });
});

await describeWith(['redis'], 'a change that reaches Redis twice', () => {
  let server: RedisServer;
  const clients: Redis[] = [];
  beforeAll(async () => {
    server = await initialised(await startRedis());
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server?.stop();
  });

  const connect = (port = server.port) => {
    const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 });
    client.on('error', () => {});
    clients.push(client);
    return client;
  };

  resendCases(async () => {
    const { record, resend } = recorder();
    const client = connect();
    const watched: IoredisClient = {
      evalsha: (sha, count, ...args) => {
        if (args[0]?.startsWith('idsmith:sequence:{')) record(() => client.evalsha(sha, count, ...args));
        return client.evalsha(sha, count, ...args);
      },
      eval: (script, count, ...args) => client.eval(script, count, ...args),
    };
    return { watched: redisStore(watched), other: redisStore(connect()), resend, close: async () => {} };
  });

  it('is made once by a client that sends commands again when its connection comes back', async () => {
    const proxy = await FaultyProxy.before(server.port);
    const client = connect(proxy.port);
    let isLosing = false;
    const losing: IoredisClient = {
      // A read has no arguments but its key; of a swap the answer is lost.
      evalsha: (sha, count, ...args) => {
        if (isLosing && args.length > 1) proxy.halfOpen('answers');
        return client.evalsha(sha, count, ...args);
      },
      eval: (script, count, ...args) => client.eval(script, count, ...args),
    };
    const [store, other] = [redisStore(losing, { timeout: 30_000 }), redisStore(connect())];
    const name = 'by itself';
    await other.defineSequence({ name, blockSize: 5 });
    const run = await store.allocate(name, 4);
    // The server knows the scripts from here on.
    expect(await store.giveBack!(name, partOf(run, 15, 5))).toBe(true);
    isLosing = true;
    const given = store.giveBack!(name, partOf(run, 10, 5));
    await expect.poll(async () => (await other.describeSequence(name)).next).toBe(11n);
    const kept = [partOf(run, 0, 10), await other.allocate(name, 1)];
    isLosing = false;
    proxy.cut();
    proxy.heal();
    expect(await given).toBe(false);
    kept.push(await other.allocate(name, 1));
    expect(notBeside(kept, 'overlap')).toEqual([]);
    await proxy.close();
  });
});

await describeWith(['etcd'], 'a change that reaches etcd twice', () => {
  let etcd: Etcd;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd?.stop());

  resendCases(async () => {
    const { record, resend } = recorder();
    const watching: typeof fetch = (url, init) => {
      if (String(url).endsWith('/v3/kv/txn')) record(() => fetch(url, init));
      return fetch(url, init);
    };
    const watched = etcdStore({ endpoints: etcd.endpoints, fetch: watching });
    return { watched, other: etcdStore({ endpoints: etcd.endpoints }), resend, close: async () => {} };
  });
});

describe('a change that reaches DynamoDB twice', () => {
  const dynalite = createRequire(import.meta.url)('dynalite') as (options: {
    createTableMs: number;
  }) => Server;
  let server: Server;
  let client: DynamoDBClient;
  beforeAll(async () => {
    server = dynalite({ createTableMs: 10 });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    client = new DynamoDBClient({
      region: 'eu-west-1',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
  });
  afterAll(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  resendCases(async () => {
    const { record, resend } = recorder();
    const watching = {
      send: (command: never, options?: object) => {
        const { name } = (command as object).constructor;
        if (/^(Update|Delete|Put)/.test(name)) record(() => client.send(command));
        return client.send(command, options);
      },
    };
    const watched = dynamodbStore(watching, { table: 'ids' });
    return { watched, other: dynamodbStore(client, { table: 'ids' }), resend, close: async () => {} };
  });
});
