import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { programsOf } from './binaries.ts';
import { startDynalite } from './dynalite.ts';
import { startEtcd } from './etcd.ts';
import { startMariadb } from './mariadb.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the files of a run ask for the servers that they share. */
    readonly sharedServers: string;
  }
}

/** A server that the files of a run share. */
interface SharedServer {
  /** Makes a place for one file, such as a database of this name, and returns its URL. */
  place(name: string): Promise<string>;
  /** Removes a place and what it holds. */
  remove?(name: string): Promise<unknown>;
  stop(): Promise<unknown>;
}

const STARTS = {
  postgres: sharePostgres,
  mariadb: shareMariadb,
  redis: shareRedis,
  dynamodb: shareDynamodb,
  etcd: shareEtcd,
  chromium: shareChromium,
};

/** The servers that the files of a run can share. */
export type SharedName = keyof typeof STARTS;

/** Called by vitest before a run. A server starts when a file first asks for it: `POST /postgres` makes a place in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<SharedName, Promise<SharedServer>>();
  let places = 0;
  const answer = async (method: string, kind: SharedName, name: string): Promise<string> => {
    const server = started.get(kind) ?? STARTS[kind]();
    started.set(kind, server);
    if (method === 'POST') return JSON.stringify({ name, url: await (await server).place(name) });
    await (await server).remove?.(name);
    return '{}';
  };
  const broker = createServer((request, response) => {
    const [, kind, name = `test_${++places}`] = (request.url as string).split('/');
    answer(request.method as string, kind as SharedName, name).then(
      (text) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  project.provide('sharedServers', await listen(broker));
  return async () => {
    broker.close();
    const servers = await Promise.allSettled(started.values());
    await Promise.all(servers.map((server) => server.status === 'fulfilled' && server.value.stop()));
  };
}

function listen(server: Server): Promise<string> {
  // A run that is broken off must not wait for it.
  server.unref();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}

async function sharePostgres(): Promise<SharedServer> {
  const { default: pg } = await import('pg');
  const server = await startPostgres({ args: ['-c', 'max_connections=400'] });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    place: async (name) => {
      await client.query(`CREATE DATABASE ${name}`);
      return server.url.replace(/[^/]*$/, name);
    },
    remove: (name) =>
      // PostgreSQL waits five seconds for connections that are about to go: `pool.end()` of pg returns before its connections are
      // closed, and one that is cut off then is an error that nobody listens to. Connections that a test has left open are cut off.
      client.query(`DROP DATABASE ${name}`).catch((error) => {
        if (error.code !== '55006') throw error;
        return client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }),
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}

async function shareMariadb(): Promise<SharedServer> {
  const { createConnection } = await import('mysql2/promise');
  const server = await startMariadb({ args: ['--max-connections=1000'] });
  const connection = await createConnection(server.url);
  return {
    place: async (name) => {
      await connection.query(`CREATE DATABASE ${name}`);
      return server.url.replace(/[^/]*$/, name);
    },
    remove: (name) => connection.query(`DROP DATABASE ${name}`),
    stop: async () => {
      await connection.end();
      await server.stop();
    },
  };
}

async function shareRedis(): Promise<SharedServer> {
  const server = await startRedis({ args: ['--databases', '10000'] });
  return {
    place: async (name) => `${server.url}/${name.replace('test_', '')}`,
    stop: () => server.stop(),
  };
}

async function shareDynamodb(): Promise<SharedServer> {
  const server = await startDynalite();
  return {
    place: async (name) => `dynamodb://eu-west-1/${name}?endpoint=${server.url}`,
    stop: () => server.stop(),
  };
}

async function shareEtcd(): Promise<SharedServer> {
  const etcd = await startEtcd({ args: ['--unsafe-no-fsync'] });
  return {
    place: async (name) => `${etcd.endpoints[0]!.replace('http', 'etcd')}?prefix=${name}/`,
    stop: () => etcd.stop(),
  };
}

/** One browser, in which every file that connects to it has windows of its own. */
async function shareChromium(): Promise<SharedServer> {
  const { chromium } = await import('playwright-core');
  const [executablePath] = await programsOf('chromium');
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
  ];
  const server = await chromium.launchServer({ executablePath, args });
  return { place: async () => server.wsEndpoint(), stop: () => server.close() };
}
