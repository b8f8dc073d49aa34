import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  type TableDescription,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

/** How the whole content of a store goes into a file, and into an empty server again. */
interface Dump {
  readonly file: string;
  write(url: string, file: string): Promise<void>;
  restore(url: string, file: string): Promise<void>;
}

const tableOf = (url: string) => {
  const { pathname, searchParams } = new URL(url);
  const client = new DynamoDBClient({
    region: 'eu-west-1',
    endpoint: searchParams.get('endpoint') as string,
  });
  return { client, table: pathname.slice(1) };
};

/** A call of etcd's JSON gateway. */
async function etcd(url: string, path: string, body: object) {
  const response = await fetch(`${url.replace('etcd', 'http')}/v3/kv/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { kvs?: { key: string; value: string }[] };
}

const pathOf = (url: string) => url.slice('sqlite:'.length);

/** The URL with which a store is opened. The data of a Redis that is not durable is not trusted by another server. */
export const urlFor = (name: string, url: string) => (name === 'redis' ? `${url}?durable=true` : url);

/** Every store by its name among the servers of the tests. */
export const DUMPS: Readonly<Record<string, Dump>> = {
  sqlite: {
    file: 'sqlite.db',
    write: async (url, file) => copyFileSync(pathOf(url), file),
    restore: async (url, file) => copyFileSync(file, pathOf(url)),
  },
  postgres: {
    file: 'postgres.sql',
    async write(url, file) {
      const text = execFileSync('pg_dump', ['--no-owner', '--inserts', url], { encoding: 'utf8' });
      // Lines for the program psql, which no server understands.
      writeFileSync(file, text.replace(/^\\.*\n/gm, ''));
    },
    async restore(url, file) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(readFileSync(file, 'utf8'));
      await client.end();
    },
  },
  mariadb: {
    file: 'mariadb.sql',
    async write(url, file) {
      const { hostname, port, username, password, pathname } = new URL(url);
      const login = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`, `--password=${password}`];
      const args = [...login, '--compact', '--skip-opt', '--create-options', pathname.slice(1)];
      const text = execFileSync('mariadb-dump', args, { encoding: 'utf8' });
      writeFileSync(file, text.replace(/^\/\*M?!.*\n/gm, ''));
    },
    async restore(url, file) {
      const client = await createConnection({ uri: url, multipleStatements: true });
      await client.query(readFileSync(file, 'utf8'));
      await client.end();
    },
  },
  redis: {
    file: 'redis.json',
    async write(url, file) {
      const client = new Redis(url);
      const keys = (await client.keys('*')).sort();
      const values = await Promise.all(
        keys.map(async (key) => [key, (await client.dumpBuffer(key)).toString('base64')]),
      );
      client.disconnect();
      writeFileSync(file, `${JSON.stringify(values, undefined, 1)}\n`);
    },
    async restore(url, file) {
      const client = new Redis(url);
      const values = JSON.parse(readFileSync(file, 'utf8')) as [string, string][];
      for (const [key, value] of values)
        await client.restore(key, 0, Buffer.from(value, 'base64'), 'REPLACE');
      client.disconnect();
    },
  },
  dynamodb: {
    file: 'dynamodb.json',
    async write(url, file) {
      const { client, table } = tableOf(url);
      const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
      const { Items } = await client.send(new ScanCommand({ TableName: table }));
      const { KeySchema, AttributeDefinitions } = Table as TableDescription;
      writeFileSync(file, `${JSON.stringify({ KeySchema, AttributeDefinitions, Items }, undefined, 1)}\n`);
    },
    async restore(url, file) {
      const { client, table } = tableOf(url);
      const { Items, ...keys } = JSON.parse(readFileSync(file, 'utf8'));
      const options = { TableName: table, BillingMode: 'PAY_PER_REQUEST' } as const;
      await client.send(new CreateTableCommand({ ...options, ...keys }));
      await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: table });
      for (const item of Items) await client.send(new PutItemCommand({ TableName: table, Item: item }));
    },
  },
  etcd: {
    file: 'etcd.json',
    async write(url, file) {
      const { kvs = [] } = await etcd(url, 'range', { key: 'AA==', range_end: 'AA==' });
      const pairs = kvs.map(({ key, value }) => ({ key, value }));
      writeFileSync(file, `${JSON.stringify(pairs, undefined, 1)}\n`);
    },
    async restore(url, file) {
      for (const pair of JSON.parse(readFileSync(file, 'utf8'))) await etcd(url, 'put', pair);
    },
  },
};
