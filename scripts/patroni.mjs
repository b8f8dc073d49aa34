// npm run lab -- patroni [--processes 4] [--seconds 6] [--standbys synchronous]: a PostgreSQL cluster of three servers that Patroni keeps, and
// processes that mint flakes, numbers of a sequence and numbers of a series while the primary changes. First with asynchronous standbys, then
// with a synchronous one. Prints how much was lost and how often an id came twice, and exits with 1 if one did. Needs the packages patroni,
// postgresql and etcd-server of Debian.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';

register('../test/typescript.mjs', import.meta.url);
const { startPatroni } = await import('../test/services/patroni.ts');

const MODES = ['asynchronous', 'synchronous'];
const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '6' },
    standbys: { type: 'string' },
  },
});
const [processes, seconds] = [Number(values.processes), Number(values.seconds)];
const modes = values.standbys === undefined ? MODES : [values.standbys];
if (
  !(
    processes >= 1 &&
    processes <= 50 &&
    seconds >= 1 &&
    seconds <= 60 &&
    modes.every((mode) => MODES.includes(mode))
  )
) {
  console.error(
    `usage: npm run lab -- patroni [--processes 1 to 50] [--seconds 1 to 60] [--standbys ${MODES.join('|')}]`,
  );
  process.exit(2);
}

/** A program that writes a row after the other, and remembers those that the server has acknowledged. */
class Witness {
  #acknowledged = 0;
  #run = true;
  #pool;
  #ended;

  constructor(url) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: 1,
      connectionTimeoutMillis: 2000,
      query_timeout: 3000,
    });
    this.#pool.on('error', () => {});
    this.#ended = this.#write();
  }

  async #write() {
    while (!(await this.#try('CREATE TABLE IF NOT EXISTS witness (n bigint)')));
    for (let n = 1; this.#run; n++) {
      if (await this.#try(`INSERT INTO witness VALUES (${n})`)) this.#acknowledged++;
      await sleep(5);
    }
  }

  async #try(statement) {
    try {
      return await this.#pool.query(statement);
    } catch {
      await sleep(100);
      return undefined;
    }
  }

  /** The rows that were acknowledged and are gone. A row that was written without an acknowledgement hides one of them. */
  async lost() {
    for (;;) {
      const before = this.#acknowledged;
      const found = await this.#try('SELECT count(*)::int AS rows FROM witness');
      if (found) return Math.max(0, before - found.rows[0].rows);
    }
  }

  async end() {
    this.#run = false;
    await this.#ended;
    await this.#pool.end();
  }
}

/** The processes that mint. */
class Minters {
  #url;
  #folder;
  #children = [];
  #count = 0;

  constructor(url, folder) {
    this.#url = url;
    this.#folder = folder;
  }

  start() {
    const file = join(this.#folder, String(this.#count++));
    const program = fileURLToPath(new URL('./patroni-minter.mjs', import.meta.url));
    this.#children.push(fork(program, [this.#url, file], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
  }

  /** Ends the oldest one, with SIGKILL, and starts another. */
  replaceOne() {
    this.#children.shift()?.kill('SIGKILL');
    this.start();
  }

  async end() {
    const running = this.#children.splice(0);
    for (const child of running) child.kill('SIGTERM');
    await Promise.all(running.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  }

  /** The ids, the repeats and the errors of all processes. */
  results() {
    const ids = { flake: [], number: [], invoice: [] };
    const errors = {};
    for (let n = 0; n < this.#count; n++)
      // The last line of a process that was killed may have no end.
      for (const line of readFileSync(join(this.#folder, String(n)), 'utf8')
        .split('\n')
        .slice(0, -1)) {
        const [family, ...found] = line.split(' ');
        if (family === 'error') errors[found[0]] = (errors[found[0]] ?? 0) + 1;
        else for (const id of found) ids[family].push(id);
      }
    const families = Object.entries(ids).map(([family, all]) => {
      return { family, ids: all.length, repeats: all.length - new Set(all).size };
    });
    return { families, errors };
  }
}

/** Everything that happens to the primary, one after the other. */
const FAULTS = {
  switchover: async (cluster, before) => {
    const answer = await cluster.switchover();
    if (!answer.startsWith('200')) throw new Error(answer);
    return cluster.otherPrimary(before);
  },
  'kill -9 of the primary': async (cluster, before) => {
    await before.kill();
    return cluster.otherPrimary(before);
  },
  [`kill -9 after ${seconds} s without replication`]: async (cluster, before) => {
    before.stopSending();
    await sleep(seconds * 1000);
    await before.kill();
    return cluster.otherPrimary(before);
  },
  'Patroni of the primary stands still': async (cluster, before) => {
    before.freezePatroni();
    const next = await cluster.otherPrimary(before);
    await sleep(seconds * 1000);
    before.thawPatroni();
    return next;
  },
};

async function runStory(mode) {
  const isSynchronous = mode === 'synchronous';
  const folder = await mkdtemp(join(tmpdir(), 'idsmith-patroni-'));
  const cluster = await startPatroni({ synchronous: isSynchronous });
  const url = `${cluster.url}?connectionTimeoutMillis=3000${isSynchronous ? '&losslessFailover=true' : ''}`;
  const minters = new Minters(url, folder);
  const witness = new Witness(cluster.url);
  try {
    for (let n = 0; n < processes; n++) minters.start();
    await sleep(10_000);
    console.log(`${mode} standbys, ${processes} processes`);
    let gone = 0;
    for (const [name, fault] of Object.entries(FAULTS)) {
      const before = await cluster.primary();
      const begun = Date.now();
      const next = await fault(cluster, before);
      const took = Math.round((Date.now() - begun) / 100) / 10;
      minters.replaceOne();
      if (before.pid === undefined) await before.start();
      await sleep(40_000);
      const lost = await witness.lost();
      console.log(
        `  ${name}: ${before.name} to ${next.name} in ${took} s, ${lost - gone} acknowledged rows lost`,
      );
      gone = lost;
    }
    await minters.end();
    const { families, errors } = minters.results();
    for (const { family, ids, repeats } of families)
      console.log(`  ${family}: ${ids} ids, ${repeats} repeats`);
    console.log(`  errors: ${JSON.stringify(errors)}`);
    if (families.some(({ ids, repeats }) => ids === 0 || repeats > 0)) process.exitCode = 1;
  } finally {
    await minters.end();
    await witness.end();
    await cluster.stop();
    await rm(folder, { recursive: true });
  }
}

for (const mode of modes) await runStory(mode);
