import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depth } from './depth.ts';
import { entries, libraryEntries, PackedHome } from './packed-home.ts';
import { EVERY_FLAG, STRICT } from './strict-program.ts';

/** The package whose compiler is an older one. */
const OLDER = 'node_modules/@arethetypeswrong/core/package.json';
/** The compilers of users: the present one, and one of the years before. */
const COMPILERS = {
  'this TypeScript': fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url)),
  'TypeScript 5': createRequire(new URL(`../${OLDER}`, import.meta.url)).resolve('typescript/bin/tsc'),
};

let home: PackedHome;
beforeAll(() => {
  home = new PackedHome();
});
afterAll(() => home?.remove());

const MODULES = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
] as const;

/** The complaints of a compiler about a program, in strict mode. */
function complaints(compiler: string, program: string, options: Record<string, unknown>): string {
  const compilerOptions = {
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: [],
    // The types of the language are the compiler's own.
    skipDefaultLibCheck: true,
    ...options,
  };
  home.write('program.mts', program);
  writeFileSync(
    join(home.path, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['program.mts'] }),
  );
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', home.path], { encoding: 'utf8' });
  return status === 0 ? stdout : stdout || `the compiler ended with ${status}`;
}

const NODE_TYPES = ['@types/node', 'undici-types'];

/** Runs `check` while these packages are installed. */
function withPackages(names: readonly string[], check: () => void): void {
  for (const name of names) home.link(name);
  try {
    check();
  } finally {
    for (const name of names) home.unlink(name);
  }
}

const importAll = (names: readonly string[]) =>
  names.map((name, i) => `import * as entry${i} from '${name}';\nvoid entry${i};`).join('\n');

/** The present compiler and the usual way to find modules. `npm run test:long` has the other ways, and the older compiler. */
const SETTINGS = Object.entries(COMPILERS)
  .flatMap(([name, compiler]) =>
    (name === 'TypeScript 5' ? [MODULES[1]] : MODULES).map((modules) => ({
      name,
      compiler,
      modules,
      module: modules.module,
    })),
  )
  .filter(({ name, modules }) => depth > 0 || (name === 'this TypeScript' && modules === MODULES[1]));

/** A program for ES2022 that disposes of a store at the end of a block. */
const DISPOSING = `
import { connect } from 'idsmith/connect';
import { openStore } from 'idsmith/stores';
import type { Store } from 'idsmith';
export async function main(stranger: Omit<Store, typeof Symbol.asyncDispose>) {
  await using store = await openStore('memory:');
  await using ids = await connect(store);
  return [ids, await connect(stranger)];
}`;

describe.each(SETTINGS)('With $name and module $module, types', ({ compiler, modules }) => {
  const checked = { ...modules, skipLibCheck: false };

  it('compile for browsers and workers, also where a block disposes, without any driver and without types of Node', () => {
    const options = { ...checked, lib: ['es2022', 'dom'] };
    expect(complaints(compiler, `${importAll(libraryEntries)}\n${DISPOSING}`, options)).toBe('');
  });

  it('take undefined for an option that is left out, and know the type of ids, under every strict flag', () => {
    const options = { ...modules, ...EVERY_FLAG, lib: ['es2022', 'dom'] };
    expect(complaints(compiler, STRICT, options)).toBe('');
  });

  it('compile with the types of Node, without any driver', () => {
    withPackages(NODE_TYPES, () => {
      const options = { ...checked, lib: ['es2023'], types: ['node'] };
      expect(complaints(compiler, importAll(entries), options)).toBe('');
    });
  });
});

describe('The types of the entries', () => {
  it('tell of every name that is exported, and of no other', async () => {
    const list = `const entries = ${JSON.stringify(entries)};
      const names = entries.map(async (entry) => Object.keys(await import(entry)));
      console.log(JSON.stringify(await Promise.all(names)));`;
    const names = JSON.parse(home.run(home.write('names.mjs', list))) as string[][];
    const claims = names.map((exported, i) => {
      const members = exported.map((name) => `${name}: 1`).join(', ');
      return `const names${i}: Record<keyof typeof entry${i}, 1> = { ${members} }; void names${i};`;
    });
    const options = { ...MODULES[1], skipLibCheck: true, lib: ['es2022', 'dom'] };
    const program = `${importAll(entries)}\n${claims.join('\n')}`;
    expect(complaints(COMPILERS['this TypeScript'], program, options)).toBe('');
  });
});

/** Packages with the types of drivers. */
const DRIVERS = [
  'libsql',
  '@types/better-sqlite3',
  'pg',
  '@types/pg',
  'mysql2',
  'redis',
  'ioredis',
  '@aws-sdk/client-dynamodb',
];

/** A program that gives clients, as their drivers type them, to the stores. */
const CLIENTS = `
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import BetterSqlite from 'better-sqlite3';
import { gapless } from 'idsmith';
import { sqlExecutor } from 'idsmith/sql';
import { dynamodbStore } from 'idsmith/stores/dynamodb';
import { mysqlStore } from 'idsmith/stores/mysql';
import { postgresStore } from 'idsmith/stores/postgres';
import { redisStore } from 'idsmith/stores/redis';
import { sqliteStore } from 'idsmith/stores/sqlite';
import { Cluster, Redis } from 'ioredis';
import Libsql from 'libsql';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { createClient, createCluster } from 'redis';

const files = [new Libsql(':memory:'), new BetterSqlite(':memory:')] as const;
void [sqliteStore(files[0]), gapless('x', files[0])];
void [sqliteStore(files[1]), gapless('x', files[1])];
const client = new pg.Client();
void [postgresStore(new pg.Pool()), postgresStore(client), gapless('x', client)];
const pool = createPool('mysql://h/x');
void [mysqlStore(pool), pool.getConnection().then((connection) => gapless('x', connection))];
const callbacks = createCallbackPool('mysql://h/x');
void [mysqlStore(callbacks), sqlExecutor(callbacks), sqlExecutor(client), sqlExecutor(files[0])];
void [redisStore(createClient()), redisStore(createCluster({ rootNodes: [] }))];
void [redisStore(new Redis()), redisStore(new Cluster([]))];
void dynamodbStore(new DynamoDBClient(), { table: 'ids' });
`;

describe('Clients of every driver', () => {
  it.each(Object.entries(COMPILERS).slice(0, depth > 0 ? 2 : 1))(
    'are what the stores take, with %s',
    (_name, compiler) => {
      withPackages([...NODE_TYPES, ...DRIVERS], () => {
        const options = { ...MODULES[1], skipLibCheck: true, lib: ['es2023'], types: ['node'] };
        expect(complaints(compiler, CLIENTS, { ...options, esModuleInterop: true })).toBe('');
      });
    },
  );
});
