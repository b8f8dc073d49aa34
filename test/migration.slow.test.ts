import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWith,
  startDynalite,
  startMariadb,
  startPostgres,
  startRedis,
  startRedisCluster,
} from '#services';

// Every page of docs/migration and docs/tutorials is followed from its first step to its last one, in databases of its own.

const root = fileURLToPath(new URL('..', import.meta.url));
const docs = join(root, 'docs');
/** Tutorials that need packages of their own: test/orms and test/workers follow them. */
const ELSEWHERE = ['tutorials/orders.md', 'tutorials/worker.md'];
const pages = ['migration', 'tutorials'].flatMap((folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
const cache = join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const scratch = mkdtempSync(join(cache, 'idsmith-migration-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Step {
  kind: string;
  code: string;
  line: number;
}

/** The blocks of a page: SQL for PostgreSQL or, where they say so, for MariaDB; commands; programs. */
function stepsOf(page: string): Step[] {
  const text = readFileSync(join(docs, page), 'utf8');
  return [...text.matchAll(/^```(\w+(?: \w+)?)\n([\s\S]*?)^```$/gm)].map(({ 1: kind, 2: code, index }) => ({
    kind: kind!,
    code: code!,
    line: text.slice(0, index).split('\n').length,
  }));
}

const promised = (code: string) =>
  [...code.matchAll(/^console\.log\(.*\);? \/\/ (.*)$/gm)].map((match) => match[1]!);

interface Surroundings {
  env: Record<string, string>;
  stop(): Promise<unknown>;
}

async function start(): Promise<Surroundings> {
  const [postgres, mariadb, dynamodb, cluster, ...redis] = await Promise.all([
    startPostgres(),
    startMariadb(),
    startDynalite(),
    startRedisCluster(),
    ...Array.from({ length: 4 }, () => startRedis()),
  ]);
  const ports = redis.map(({ port }) => port);
  return {
    env: {
      DATABASE_URL: postgres.url,
      MYSQL_URL: mariadb.url,
      REDIS_URL: redis[0]!.url,
      REDIS_PORTS: ports.slice(0, 2).join(),
      RING_PORTS: ports.slice(2).join(),
      CLUSTER_PORT: String(cluster.masters[0]!.port),
      DYNAMODB_ENDPOINT: dynamodb.url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    stop: () => Promise.all([postgres, mariadb, dynamodb, cluster, ...redis].map((server) => server.stop())),
  };
}

/** Each page begins with empty databases. */
async function emptyDatabases(env: Record<string, string>): Promise<void> {
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
  const connection = await createConnection({ uri: env.MYSQL_URL!, multipleStatements: true });
  await connection.query('DROP DATABASE test; CREATE DATABASE test');
  await connection.end();
}

async function runSql(url: string, sql: string): Promise<void> {
  if (url.startsWith('postgres')) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  } else {
    const connection = await createConnection({ uri: url, multipleStatements: true });
    await connection.query(sql).finally(() => connection.end());
  }
}

async function runNode(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, args, { cwd: scratch, env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      output[name] += chunk;
    });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, ...output };
}

/** Runs a program with the built package, and gives the lines that it prints. */
async function printedBy(file: string, env: Record<string, string>): Promise<string[]> {
  const { status, stdout, stderr } = await runNode([file], env);
  expect({ status, stderr }).toMatchObject({ status: 0 });
  return stdout.split('\n').slice(0, -1);
}

async function follow(page: string, { kind, code, line }: Step, env: Record<string, string>): Promise<void> {
  if (kind === 'sql') return runSql(env.DATABASE_URL!, code);
  if (kind === 'sql mariadb') return runSql(env.MYSQL_URL!, code);
  if (kind === 'js') {
    // Modules of a tutorial import each other by the names that they begin with.
    const name = /^\/\/ ([\w-]+\.mjs)\n/.exec(code)?.[1] ?? `${line}.mjs`;
    const file = join(scratch, page, name);
    mkdirSync(join(scratch, page), { recursive: true });
    writeFileSync(file, code);
    expect(await printedBy(file, env)).toEqual(promised(code));
    return;
  }
  for (const [, command, note] of code.matchAll(/^npx idsmith (.*?)(?: # (.*))?$/gm)) {
    const words = command!.replace(/\$(\w+)/g, (_, name) => env[name]!).split(' ');
    const { status, stderr } = await runNode([join(root, 'packages/idsmith/bin/idsmith.js'), ...words], env);
    expect({ status, stderr }).toMatchObject({ status: note === 'exits with 1' ? 1 : 0 });
  }
}

await describeWith(['postgres', 'mariadb', 'redis'], 'The pages of docs/migration and docs/tutorials', () => {
  let around: Surroundings;
  beforeAll(async () => {
    around = await start();
  });
  afterAll(() => around?.stop());

  it.each(pages.filter((page) => !ELSEWHERE.includes(page)))(
    '%s works from its first step to its last one',
    async (page) => {
      await emptyDatabases(around.env);
      for (const step of stepsOf(page)) await follow(page, step, around.env);
    },
  );
});

describe('The links of docs/migration and docs/tutorials', () => {
  it.each(pages)('%s has no link to a file or a heading that is not there', (page) => {
    const text = readFileSync(join(docs, page), 'utf8');
    for (const [, file, heading] of text.matchAll(/\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)/g)) {
      const target = readFileSync(join(docs, page, '..', file!), 'utf8');
      const headings = [...target.matchAll(/^#+ (.*)$/gm)].map((match) =>
        match[1]!
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
      if (heading !== undefined) expect(headings, `${file}#${heading}`).toContain(heading);
    }
  });
});
