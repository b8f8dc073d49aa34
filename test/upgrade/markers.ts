import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { Redis } from 'ioredis';
import Database from 'libsql';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { DUMPS } from './dumps.ts';

/** The version in a marker, and the least version that a library must know. */
type Numbers = readonly [version: number, leastReader: number];

/** How a test looks at the marker of a store and puts another in its place, past the library. */
interface Marker {
  read(url: string): Promise<Numbers | undefined>;
  write(url: string, numbers: Numbers): Promise<void>;
}

const textOf = ([version, leastReader]: Numbers) => JSON.stringify({ version, leastReader });

function numbersIn(text: string | null | undefined): Numbers | undefined {
  if (text === null || text === undefined) return undefined;
  const { version, leastReader } = JSON.parse(text);
  return [version, leastReader];
}

const numbersOf = (row: object | undefined) =>
  row === undefined ? undefined : (Object.values(row).map(Number) as unknown as Numbers);

const SELECT = 'SELECT version, least_reader FROM idsmith_schema';

async function onPostgres<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return work(client).finally(() => client.end());
}

async function onRedis<T>(url: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  return work(client).finally(() => client.disconnect());
}

function onSqlite<T>(url: string, work: (db: Database.Database) => T): T {
  const db = new Database(url.slice('sqlite:'.length));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

const itemOf = (url: string) => {
  const { pathname, searchParams } = new URL(url);
  const client = new DynamoDBClient({
    region: 'eu-west-1',
    endpoint: searchParams.get('endpoint') as string,
  });
  return { client, TableName: pathname.slice(1), key: { id: { S: 'schema' } } };
};

const ETCD_KEY = btoa('idsmith/schema');

async function etcd(url: string, path: string, body: object): Promise<{ kvs?: { value: string }[] }> {
  const response = await fetch(`${url.replace('etcd', 'http')}/v3/kv/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return (await response.json()) as { kvs?: { value: string }[] };
}

/** The marker of each store, by its name among the servers of the tests. */
export const MARKERS: Readonly<Record<string, Marker>> = {
  sqlite: {
    read: async (url) =>
      onSqlite(url, (db) => {
        const [table] = db.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'idsmith_schema'`).all();
        return table === undefined ? undefined : numbersOf(db.prepare(SELECT).all()[0] as object);
      }),
    write: async (url, numbers) =>
      onSqlite(url, (db) => {
        db.exec('CREATE TABLE IF NOT EXISTS idsmith_schema (id INTEGER PRIMARY KEY, version, least_reader)');
        db.exec(`REPLACE INTO idsmith_schema VALUES (1, ${numbers.join()})`);
      }),
  },
  postgres: {
    read: (url) =>
      onPostgres(url, async (client) => {
        const { rows } = await client.query(`SELECT to_regclass('idsmith_schema') AS found`);
        return rows[0].found === null ? undefined : numbersOf((await client.query(SELECT)).rows[0]);
      }),
    write: (url, [version, leastReader]) =>
      onPostgres(url, async (client) => {
        await client.query(
          `CREATE OR REPLACE VIEW idsmith_schema AS SELECT ${version} AS version, ${leastReader} AS least_reader`,
        );
      }),
  },
  mariadb: {
    async read(url) {
      const client = await createConnection(url);
      try {
        const [tables] = await client.query<RowDataPacket[]>(`SHOW TABLES LIKE 'idsmith_schema'`);
        if (tables.length === 0) return undefined;
        const [rows] = await client.query<RowDataPacket[]>(SELECT);
        return numbersOf(rows[0]);
      } finally {
        await client.end();
      }
    },
    async write(url, numbers) {
      const client = await createConnection(url);
      await client.query(
        'CREATE TABLE IF NOT EXISTS idsmith_schema (id TINYINT PRIMARY KEY, version INT, least_reader INT)',
      );
      await client.query(`REPLACE INTO idsmith_schema VALUES (1, ${numbers.join()})`);
      await client.end();
    },
  },
  redis: {
    read: (url) => onRedis(url, async (client) => numbersIn(await client.get('idsmith:schema'))),
    write: (url, numbers) =>
      onRedis(url, async (client) => void (await client.set('idsmith:schema', textOf(numbers)))),
  },
  dynamodb: {
    async read(url) {
      const { client, TableName, key } = itemOf(url);
      const { Item: item } = await client.send(new GetItemCommand({ TableName, Key: key }));
      return numbersIn(item?.definition?.S);
    },
    async write(url, numbers) {
      const { client, TableName, key } = itemOf(url);
      const item = { ...key, definition: { S: textOf(numbers) } };
      await client.send(new PutItemCommand({ TableName, Item: item }));
    },
  },
  etcd: {
    async read(url) {
      const { kvs } = await etcd(url, 'range', { key: ETCD_KEY });
      return numbersIn(kvs && atob(kvs[0]!.value));
    },
    async write(url, numbers) {
      await etcd(url, 'put', { key: ETCD_KEY, value: btoa(textOf(numbers)) });
    },
  },
};

/** Everything that is in a store, as text. */
export async function contentOf(name: string, url: string): Promise<string> {
  if (name === 'sqlite') return onSqlite(url, sqliteContent);
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-content-'));
  try {
    const file = join(folder, 'dump');
    await DUMPS[name]!.write(url, file);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sqliteContent(db: Database.Database): string {
  const tables = db
    .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name`)
    .all() as Record<string, string>[];
  return JSON.stringify(
    tables.map(({ name, sql }) => {
      const select = db.prepare(`SELECT * FROM ${name} ORDER BY 1, 2`).safeIntegers(true);
      return [sql, (select.all() as object[]).map((row) => Object.values(row).map(String))];
    }),
  );
}
