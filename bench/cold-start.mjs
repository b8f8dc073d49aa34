// npm run bench -- cold-start: the time from the start of a process to its first id, as in a function that a cloud starts on demand.
// Every start is a process of its own. The contenders take turns. Run again by itself, with the name of a contender, it is that process.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROUNDS = Number(process.env.ROUNDS ?? 21);
const NEXT = 'UPDATE bench_ids SET id = id + 1 RETURNING id';

/** What each contender does until it has an id. Nothing is imported before. */
const CONTENDERS = {
  'nothing but Node': async () => 'none',
  'uuid v7()': async () => (await import('uuid')).v7(),
  'uuid7() of idsmith/uuid7': async () => (await import('idsmith/uuid7')).uuid7(),
  'FlakeGenerator of idsmith': async () => new (await import('idsmith')).FlakeGenerator({ node: 3 }).next(),
  'SQLite: the driver alone': async (url) => {
    const driver = process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? (await import('libsql')).default;
    const db = new driver(url.replace('sqlite:', ''));
    return db.prepare(NEXT).all()[0].id;
  },
  'SQLite: connect, a flake': async (url) => {
    const { connect } = await import('idsmith/connect');
    return (await (await connect(url)).flakes('bench')).next();
  },
  'SQLite: connect, a number': async (url) => {
    const { connect } = await import('idsmith/connect');
    return (await (await connect(url)).sequence('bench')).next();
  },
  'PostgreSQL: pg alone': async (url) => {
    const { default: pg } = await import('pg');
    const client = new pg.Client(url);
    await client.connect();
    return (await client.query(NEXT)).rows[0].id;
  },
  'PostgreSQL: kysely on pg': async (url) => {
    const [{ Kysely, PostgresDialect }, { default: pg }] = await Promise.all([
      import('kysely'),
      import('pg'),
    ]);
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
    const next = db.updateTable('bench_ids').set((eb) => ({ id: eb('id', '+', 1) }));
    return (await next.returning('id').executeTakeFirstOrThrow()).id;
  },
  'PostgreSQL: connect, a flake': async (url) => {
    const { connect } = await import('idsmith/connect');
    return (await (await connect(url)).flakes('bench')).next();
  },
  'PostgreSQL: connect, a number': async (url) => {
    const { connect } = await import('idsmith/connect');
    return (await (await connect(url)).sequence('bench')).next();
  },
};

const [asked, url = ''] = process.argv.slice(2);
if (asked === undefined) await measureAll();
else {
  const id = await CONTENDERS[asked](url);
  // Since the process began.
  const wall = performance.now();
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ id: String(id), wall, processor: (user + system) / 1000 }));
  // A lease that is not released expires, and the next process takes the next node id: so it is where functions are killed.
  process.exit();
}

async function measureAll() {
  const { median, printRows, printTargets, save, versionOf } = await import('./harness.mjs');
  const { initStore, openStore } = await import('idsmith/stores');
  const { startPostgres } = await startServices();
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-cold-start-'));
  const postgres = await startPostgres();
  const urls = { SQLite: `sqlite:${join(folder, 'ids.db')}`, PostgreSQL: postgres.url };
  for (const url of Object.values(urls)) await prepare(url);

  const names = Object.keys(CONTENDERS);
  const runs = new Map(names.map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const name of names) {
      const run = await start(name, urls[name.split(':')[0]]);
      // The first round fills the caches of the file system.
      if (round > 0) runs.get(name).push(run);
    }
  await postgres.stop();
  rmSync(folder, { recursive: true });

  const load = loadavg()[0].toFixed(1);
  const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`;
  console.log(
    `From the start of a process to its first id; the tables are there\n${machine}, load average ${load} at the end\n` +
      `median of ${ROUNDS} interleaved rounds; the ids of a contender differ\n`,
  );
  const results = names.map((name) => {
    const ids = runs.get(name).map(({ id }) => id);
    if (name !== names[0] && new Set(ids).size !== ids.length) throw new Error(`${name} repeats ids: ${ids}`);
    const of = (unit) => median(runs.get(name).map((run) => run[unit]));
    return { name, wall: of('wall'), processor: of('processor') };
  });
  const [bare] = results;
  const cells = ({ name, wall, processor }) => [
    name,
    `${wall.toFixed(0)} ms`,
    `${processor.toFixed(0)} ms`,
    `${(processor - bare.processor).toFixed(0)} ms`,
  ];
  printRows([['contender', 'time', 'processor', 'over bare Node'], ...results.map(cells)]);

  const find = (wanted) => results.find(({ name }) => name === wanted);
  const against = (ours, theirs, target) => ({
    what: `${ours} against ${theirs}, processor time of the start`,
    ratio: find(theirs).processor / find(ours).processor,
    target,
  });
  const targets = [
    against('uuid7() of idsmith/uuid7', 'uuid v7()', 0.9),
    against('FlakeGenerator of idsmith', 'uuid v7()', 0.7),
    against('SQLite: connect, a flake', 'SQLite: the driver alone', 0.6),
    against('PostgreSQL: connect, a flake', 'PostgreSQL: pg alone', 0.65),
    against('PostgreSQL: connect, a number', 'PostgreSQL: kysely on pg', 1),
  ];
  printTargets(targets);
  const versions = Object.fromEntries(
    ['idsmith', 'uuid', 'pg', 'kysely', 'libsql'].map((name) => [name, versionOf(name)]),
  );
  save('cold-start', { machine, load: Number(load), rounds: ROUNDS, versions, targets, results });

  /** Makes what every start finds: a store that is known to be new, a sequence, and a table for the others. */
  async function prepare(url) {
    const store = await openStore(url);
    await initStore(store);
    await store.defineSequence({ name: 'bench', blockSize: 10 });
    await store.close();
    const make = ['CREATE TABLE bench_ids (id BIGINT)', 'INSERT INTO bench_ids VALUES (0)'];
    if (url.startsWith('sqlite:')) {
      const driver =
        process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? (await import('libsql')).default;
      const db = new driver(url.replace('sqlite:', ''));
      for (const sql of make) db.exec(sql);
      db.close();
      return;
    }
    const { default: pg } = await import('pg');
    const client = new pg.Client(url);
    await client.connect();
    for (const sql of make) await client.query(sql);
    await client.end();
  }
}

/** The servers of the tests. */
async function startServices() {
  const { register } = await import('node:module');
  register('../test/typescript.mjs', import.meta.url);
  return import('../test/services/index.ts');
}

/** Runs a contender in a process of its own. */
function start(name, url) {
  return new Promise((resolve, reject) => {
    const args = [fileURLToPath(import.meta.url), name, ...(url === undefined ? [] : [url])];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (text) => {
      printed += text;
    });
    child.on('close', (status) =>
      status === 0
        ? resolve(JSON.parse(printed))
        : reject(new Error(`${name} ended with ${status}: ${printed}`)),
    );
  });
}
