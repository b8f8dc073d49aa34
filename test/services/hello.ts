import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import type { ServiceName } from './binaries.ts';
import { startEtcd } from './etcd.ts';
import { startMariadb } from './mariadb.ts';
import { startPostgres } from './postgres.ts';
import type { ServerProcess } from './process.ts';
import { startRedis } from './redis.ts';

/** How the proof talks to one kind of server, through a client that is connected for each call. */
export interface Speaker {
  readonly service: ServiceName;
  start(): Promise<ServerProcess>;
  write(url: string, key: string, value: string): Promise<void>;
  read(url: string, key: string): Promise<string | null>;
}

async function onRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

async function onPostgres(url: string, sql: string, values: string[] = []): Promise<string | null> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ v: string }>(sql, values)).rows[0]?.v ?? null;
  } finally {
    await client.end();
  }
}

async function onMariadb(url: string, sql: string, values: string[] = []): Promise<string | null> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.execute(sql, values);
    return (Array.isArray(rows) ? (rows[0] as { v: string } | undefined)?.v : null) ?? null;
  } finally {
    await connection.end();
  }
}

/** Writes or reads one key of an etcd through its JSON gateway, which takes and gives base64. */
async function onEtcd(
  url: string,
  verb: 'put' | 'range',
  key: string,
  value?: string,
): Promise<string | null> {
  const body = { key: btoa(key), ...(value !== undefined && { value: btoa(value) }) };
  const response = await fetch(`${url}/v3/kv/${verb}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd answered ${response.status}: ${await response.text()}`);
  const { kvs } = (await response.json()) as { kvs?: { value: string }[] };
  return kvs?.[0] ? atob(kvs[0].value) : null;
}

/** One for each service. */
export const speakers = {
  redis: {
    service: 'redis',
    start: () => startRedis({ persistence: 'aof' }),
    write: async (url, key, value) => void (await onRedis(url, (redis) => redis.set(key, value))),
    read: (url, key) => onRedis(url, (redis) => redis.get(key)),
  },
  postgres: {
    service: 'postgres',
    start: () => startPostgres(),
    write: async (url, key, value) => {
      await onPostgres(url, 'CREATE TABLE IF NOT EXISTS hello (k text, v text)');
      await onPostgres(url, 'INSERT INTO hello VALUES ($1, $2)', [key, value]);
    },
    read: (url, key) => onPostgres(url, 'SELECT v FROM hello WHERE k = $1', [key]),
  },
  mariadb: {
    service: 'mariadb',
    start: () => startMariadb(),
    write: async (url, key, value) => {
      await onMariadb(url, 'CREATE TABLE IF NOT EXISTS hello (k text, v text)');
      await onMariadb(url, 'INSERT INTO hello VALUES (?, ?)', [key, value]);
    },
    read: (url, key) => onMariadb(url, 'SELECT v FROM hello WHERE k = ?', [key]),
  },
  etcd: {
    service: 'etcd',
    start: async () => (await startEtcd()).nodes[0]!,
    write: async (url, key, value) => void (await onEtcd(url, 'put', key, value)),
    read: (url, key) => onEtcd(url, 'range', key),
  },
} satisfies Record<string, Speaker>;
