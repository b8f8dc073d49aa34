import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, SHARED_STORES, type StoreServer } from '#services';
import { depth } from './depth.ts';
import { libraryEntries as libraries, PackedHome } from './packed-home.ts';

/** The options of a bundle for Node. A module has no `require`, which drivers in CommonJS need: the docs give this banner. */
const FORMATS = {
  cjs: { format: 'cjs' },
  esm: {
    format: 'esm',
    banner: {
      js: "import { createRequire as make } from 'node:module'; const require = make(import.meta.url);",
    },
  },
} as const;
type Format = keyof typeof FORMATS;
const formats = Object.keys(FORMATS) as Format[];

let home: PackedHome;
/** A folder without any package: a bundle that runs there holds everything it needs. */
const elsewhere = mkdtempSync(join(tmpdir(), 'idsmith-bundled-'));
beforeAll(() => {
  home = new PackedHome();
});
afterAll(() => {
  home?.remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

/** A program, whose `work` may await. */
const programOf = (imports: string, work: string) =>
  `${imports}\nasync function main() {\n${work}\n}\nexport const done = main();\n`;

const extensionOf = (format: Format) => (format === 'cjs' ? '.cjs' : '.mjs');

/** Bundles programs without a warning. */
async function bundle(options: BuildOptions): Promise<void> {
  const common = { bundle: true, platform: 'node', logLevel: 'silent' } as const;
  const { errors, warnings } = await build({ ...common, ...options });
  expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
}

/** Bundles a program and runs the bundle. Returns its output. */
async function bundleAndRun(
  format: Format,
  imports: string,
  work: string,
  { env = {}, banner = true, external = [] as string[], folder = elsewhere } = {},
): Promise<string> {
  const program = home.write('program.mjs', programOf(imports, work));
  const outfile = join(folder, `bundle${extensionOf(format)}`);
  await bundle({ entryPoints: [program], outfile, external, ...(banner ? FORMATS[format] : { format }) });
  return home.run(outfile, { NODE_NO_WARNINGS: '1', ...env });
}

/** Bundles a program for each entry, and runs the bundles in one process. Returns the output of each, or its error. */
async function bundleAndRunAll(format: Format): Promise<Record<string, string>> {
  const extension = extensionOf(format);
  const entryPoints = libraries.map((entry, i) => ({
    in: home.write(`program-${i}.mjs`, programOf(...programFor(entry))),
    out: `bundle-${i}`,
  }));
  await bundle({ entryPoints, outdir: elsewhere, outExtension: { '.js': extension }, ...FORMATS[format] });
  const files = libraries.map((entry, i) => [entry, `./bundle-${i}${extension}`]);
  const runner = join(elsewhere, 'run-all.mjs');
  writeFileSync(
    runner,
    `import { createRequire } from 'node:module';
    const [log, printed] = [console.log, {}];
    for (const [entry, file] of ${JSON.stringify(files)}) {
      console.log = (...values) => { printed[entry] = values.join(' '); };
      const load = async () => file.endsWith('.cjs') ? createRequire(import.meta.url)(file) : import(file);
      await load().then(({ done }) => done).catch((error) => { printed[entry] = String(error); });
    }
    log(JSON.stringify(printed));`,
  );
  return JSON.parse(home.run(runner, { NODE_NO_WARNINGS: '1' }));
}

/** A key of public ids. */
const KEY = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';

/** A use of each entry that needs no driver. Each prints "ok". */
const PROGRAMS: Record<string, readonly [imports: string, work: string]> = {
  idsmith: [
    `import { LocalityGenerator, FlakeGenerator, memoryStore, Sequences } from 'idsmith';`,
    `const sequences = new Sequences(memoryStore());
     await sequences.define('x');
     const id = await (await sequences.get('x')).next();
     new LocalityGenerator().next(); new FlakeGenerator({ node: 3 }).next();
     console.log(id === 1n ? 'ok' : id);`,
  ],
  'idsmith/connect': [
    `import { connect } from 'idsmith/connect';`,
    `const ids = await connect('memory:');
     const id = (await ids.flakes('orders')).next();
     await ids.close();
     console.log(typeof id === 'bigint' ? 'ok' : id);`,
  ],
  'idsmith/inspect': [
    `import { inspect } from 'idsmith/inspect';`,
    `console.log(inspect('1jyVFw3401')[0].family === 'key' ? 'ok' : 'no');`,
  ],
  'idsmith/public': [
    `import { publicIds } from 'idsmith/public';`,
    `const orders = publicIds({ prefix: 'ord', keys: { 1: '${KEY}' } });
     const users = publicIds({ prefix: 'usr', keys: { 1: '${KEY}' }, of: 'uuid' });
     const uuid = '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8';
     const isBack = orders.decode(orders.encode(5n)) === 5n && users.decode(users.encode(uuid)) === uuid;
     let message = '';
     try { publicIds({ prefix: 'inv', keys: { 1: '${KEY}' }, short: true }); } catch (error) { message = error.message; }
     console.log(isBack && message.endsWith('not installed: npm install @noble/ciphers') ? 'ok' : message);`,
  ],
  'idsmith/schema': [
    `import { sequenceSchema } from 'idsmith/schema';`,
    `console.log(sequenceSchema()['~standard'].validate('10001').value === 10001n ? 'ok' : 'no');`,
  ],
  '@idsmith/shard/shardjs': [
    `import { init } from '@idsmith/shard/shardjs';`,
    `const shard = init({ shards: { 0: ['6379', '127.0.0.1', 1] }, options: { keyTypes: { user: 2 } } });
     console.log(shard.getType('1jyVFw3402') === 'user' ? 'ok' : 'no');
     await shard.close();`,
  ],
  '@idsmith/shard': [
    `import { ShardMap } from '@idsmith/shard';`,
    `const map = new ShardMap({ shards: { 0: ['6379', '127.0.0.1', 1] }, options: { keyTypes: { user: 2 } } });
     console.log(map.getType('1jyVFw3402') === 'user' ? 'ok' : 'no');
     await map.close();`,
  ],
  '@idsmith/shard/ring': [
    `import { HashRing } from '@idsmith/shard/ring';`,
    `console.log(new HashRing({ a: 1 }).nodeOf('x') === 'a' ? 'ok' : 'no');`,
  ],
  'idsmith/stores': [
    `import { openStore } from 'idsmith/stores';`,
    `const store = await openStore('memory:');
     await store.close();
     const missing = [];
     for (const url of ['postgres://h/x', 'mysql://h/x', 'oracle://h/x', 'redis://h', 'dynamodb://r/t'])
       await openStore(url).catch(({ message }) => missing.push(message.replace(/.*: npm/, 'npm')));
     const names = ['pg', 'mysql2', '@idsmith/oracle', 'redis', '@aws-sdk/client-dynamodb'];
     const wanted = names.map((name) => 'npm install ' + name).join();
     console.log(missing.join() === wanted ? 'ok' : missing);`,
  ],
  'idsmith/stores/etcd': [
    `import { etcdStore } from 'idsmith/stores/etcd';`,
    `await etcdStore({ endpoints: ['http://127.0.0.1:2'] }).listLeases('x').catch(({ code }) => console.log(code === 'STORE' ? 'ok' : code));`,
  ],
  '@idsmith/oracle': [
    `import { oracleStore } from '@idsmith/oracle';`,
    `const pool = { getConnection: () => Promise.reject(new Error('away')) };
     await oracleStore(pool).listLeases('x').catch(({ code }) => console.log(code === 'STORE' ? 'ok' : code));`,
  ],
  'idsmith/stores/http': [
    `import { httpStore } from 'idsmith/stores/http';`,
    `await httpStore('http://127.0.0.1:2').listLeases('x').catch(({ code }) => console.log(code === 'STORE' ? 'ok' : code));`,
  ],
  'idsmith/testing': [
    `import { memoryStore } from 'idsmith';
     import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';`,
    `const store = memoryStore();
     for (const { run } of [...leaseStoreCases(() => store), ...sequenceStoreCases(() => store)]) await run();
     console.log('ok');`,
  ],
};

function programFor(entry: string): readonly [imports: string, work: string] {
  const look = `console.log(Object.values(entry).some((value) => typeof value === 'function') ? 'ok' : 'empty');`;
  return PROGRAMS[entry] ?? [`import * as entry from '${entry}';`, look];
}

describe.each(formats)('A bundle in the format %s, in a folder without any driver', (format) => {
  let printed: Record<string, string>;
  beforeAll(async () => {
    printed = await bundleAndRunAll(format);
  });

  it.each(libraries)('holds %s, and runs', (entry) => {
    expect(printed[entry]).toBe('ok');
  });
});

/** Stores by URL, and stores on a client of the user's: the one driver that is installed, and how it is used. */
const DRIVERS: Record<string, { server: string; imports: string; store: string }> = {
  pg: {
    server: 'postgres',
    imports: `import pg from 'pg'; import { postgresStore } from 'idsmith/stores/postgres';`,
    store: `const client = new pg.Pool({ connectionString: url }); const end = () => client.end();
      const store = postgresStore(client);`,
  },
  mysql2: {
    server: 'mariadb',
    imports: `import { createPool } from 'mysql2/promise'; import { mysqlStore } from 'idsmith/stores/mysql';`,
    store: `const client = createPool(url); const end = () => client.end(); const store = mysqlStore(client);`,
  },
  redis: {
    server: 'redis',
    imports: `import { createClient } from 'redis'; import { redisStore } from 'idsmith/stores/redis';`,
    store: `const client = createClient({ url }); await client.connect(); const end = () => client.destroy();
      const store = redisStore(client, { durable: true });`,
  },
  ioredis: {
    server: 'redis',
    imports: `import { Redis } from 'ioredis'; import { redisStore } from 'idsmith/stores/redis';`,
    store: `const client = new Redis(url); const end = () => client.disconnect();
      const store = redisStore(client, { durable: true });`,
  },
  '@aws-sdk/client-dynamodb': {
    server: 'dynamodb',
    imports: `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
      import { dynamodbStore } from 'idsmith/stores/dynamodb';`,
    store: `const client = new DynamoDBClient({ region: 'eu-west-1', endpoint: url.replace(/.*endpoint=/, '') });
      const end = () => client.destroy(); const store = dynamodbStore(client, { table: 'ids' });`,
  },
};

const MINT = `const id = (await ids.flakes('bundled')).next();
  await ids.close();
  console.log(typeof id === 'bigint' ? 'ok' : id);`;

// One driver in `npm run test:full`, all of them in `npm run test:long`.
for (const [driver, { server, imports, store }] of Object.entries(DRIVERS).slice(0, depth > 0 ? 5 : 1)) {
  const [, needs, start] = SHARED_STORES.find(([name]) => name === server)!;
  await describeWith(needs, `A bundle in a folder with ${driver} alone`, () => {
    let running: StoreServer;
    beforeAll(async () => {
      running = await start();
      home.link(driver);
    });
    afterAll(async () => {
      home.unlink(driver);
      await running?.stop();
    });
    const env = () => ({ STORE_URL: running.url });

    it.each(formats)('in the format %s mints on a store of a URL', async (format) => {
      const work = `const url = process.env.STORE_URL;
        const ids = await connect(url.startsWith('redis') ? url + '?durable=true' : url); ${MINT}`;
      const connect = `import { connect } from 'idsmith/connect';`;
      expect(await bundleAndRun(format, connect, work, { env: env() })).toBe('ok');
    });

    it.each(formats)('in the format %s mints on a store of a client', async (format) => {
      const work = `const url = process.env.STORE_URL; ${store} const ids = await connect(store); ${MINT} await end();`;
      const connect = `import { connect } from 'idsmith/connect';`;
      expect(await bundleAndRun(format, `${connect} ${imports}`, work, { env: env() })).toBe('ok');
    });
  });
}

describe('A bundle made in a folder with @noble/ciphers', () => {
  beforeAll(() => home.link('@noble/ciphers'));
  afterAll(() => home.unlink('@noble/ciphers'));

  const imports = `import { publicIds } from 'idsmith/public';`;
  const work = `const invoices = publicIds({ prefix: 'inv', keys: { 1: '${KEY}' }, short: true });
    console.log(invoices.encode(10001n), invoices.decode('inv_Bc9xMN7e2esLk'));`;
  const options = [
    ['cjs', {}],
    ['esm', {}],
    ['esm', { banner: false }],
  ] as const;
  it.each(options)('in the format %s %o makes short ids where no package is', async (format, chosen) => {
    expect(await bundleAndRun(format, imports, work, chosen)).toBe('inv_Bc9xMN7e2esLk 10001n');
  });

  it.each(formats)('in the format %s makes short ids beside the package', async (format) => {
    const beside = { external: ['@noble/ciphers'], folder: home.path };
    expect(await bundleAndRun(format, imports, work, beside)).toBe('inv_Bc9xMN7e2esLk 10001n');
  });
});

describe('A bundle beside libsql', () => {
  it.each(formats)('in the format %s mints on a SQLite file', async (format) => {
    home.link('libsql');
    const work = `const ids = await connect('sqlite:./ids.db'); ${MINT}`;
    const beside = { external: ['libsql'], folder: home.path };
    expect(await bundleAndRun(format, `import { connect } from 'idsmith/connect';`, work, beside)).toBe('ok');
    home.unlink('libsql');
  });
});

describe('A module without the banner', () => {
  it('says what the bundle lacks', async () => {
    home.link('pg');
    const work = `await openStore('postgres://h/x').catch(({ message }) => console.log(message));`;
    const imports = `import { openStore } from 'idsmith/stores';`;
    const message = await bundleAndRun('esm', imports, work, { banner: false });
    expect(message).toMatch(/^the package pg could not be loaded: Dynamic require .* --format=cjs/);
    home.unlink('pg');
  });
});

describe('Leased flakes in a bundle', () => {
  const work = (lease: string) => `const ids = await ${lease}(memoryStore(), { namespace: 'orders' });
    console.log(typeof ids.next());
    await ids.close();`;

  it('come from leaseFlakes', async () => {
    const imports = `import { leaseFlakes, memoryStore } from 'idsmith';`;
    expect(await bundleAndRun('esm', imports, work('leaseFlakes'))).toBe('bigint');
  });

  it('come from the class where the program has leases', async () => {
    const imports = `import { FlakeGenerator, leaseFlakes, memoryStore } from 'idsmith'; globalThis.used = leaseFlakes;`;
    expect(await bundleAndRun('esm', imports, work('FlakeGenerator.lease'))).toBe('bigint');
  });

  it('are refused by a class without leases, with the way out', async () => {
    const imports = `import { FlakeGenerator, memoryStore } from 'idsmith';`;
    const told = `await FlakeGenerator.lease(memoryStore(), { namespace: 'x' }).catch(({ message }) => console.log(message));`;
    expect(await bundleAndRun('esm', imports, told)).toContain('call leaseFlakes(store, options)');
  });
});

describe('Threads in a bundle', () => {
  const families = {
    FlakeGenerator: `new FlakeGenerator({ node: 1 })`,
    LocalityGenerator: `new LocalityGenerator()`,
    Uuid7Generator: `new Uuid7Generator()`,
  };

  it.each(Object.entries(families))('share a %s of a program that says so', async (name, made) => {
    const imports = `import { enableThreads, ${name} } from 'idsmith';`;
    const work = `enableThreads();
      const one = ${made}, other = ${name}.attach(one.share());
      console.log(new Set([one.next(), other.next(), one.next(), other.next()]).size);`;
    expect(await bundleAndRun('esm', imports, work)).toBe('4');
  });

  it.each(Object.entries(families))(
    'are refused by a %s without it, with the way out',
    async (name, made) => {
      const imports = `import { ${name} } from 'idsmith';`;
      const work = `const one = ${made}, told = [];
      for (const call of [() => one.share(), () => ${name}.attach({})])
        try { call(); } catch ({ name, message }) { told.push(name + ' ' + message); }
      console.log(told.join('\\n'), typeof one.next());`;
      const said = await bundleAndRun('esm', imports, work);
      expect(said.match(/InvalidOptionError .* need a call of enableThreads\(\)/g)).toHaveLength(2);
      expect(said).toMatch(/(bigint|string)$/);
    },
  );
});
