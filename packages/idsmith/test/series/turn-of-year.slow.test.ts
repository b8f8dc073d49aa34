import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from 'idsmith/connect';
import { sqlExecutor } from 'idsmith/sql';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, FakeTime, type ServiceName, startMariadb, startPostgres } from '#services';

const WORKER = fileURLToPath(new URL('./turn-worker.mjs', import.meta.url));
const WORKERS = 3;
/** Midnight in Berlin is 23:00 UTC. */
const TURN = Date.parse('2031-12-31T23:00:00Z');

interface Given {
  fast: string[];
  gapless: string[];
  /** Numbers whose year is not that of the database's clock. */
  wrong: string[];
}

/** What a worker prints: a line when it is ready, one when it has its first numbers, and one with all numbers. */
async function* linesOf(worker: ChildProcess): AsyncGenerator<string> {
  let errors = '';
  worker.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  yield* createInterface({ input: worker.stdout! });
  throw new Error(`a worker ended: ${errors}`);
}

/** Lets workers take numbers over the turn of the year. The clock stands a little before the turn when all have their first numbers. */
async function overTheTurn(time: FakeTime, url: string, env: Record<string, string>): Promise<Given[]> {
  const workers = Array.from({ length: WORKERS }, () => {
    const worker = spawn(process.execPath, [WORKER, url, '2032', String(TURN)], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return { worker, lines: linesOf(worker) };
  });
  const next = async (lines: AsyncGenerator<string>) => (await lines.next()).value as string;
  const whenAllSay = async (line: string, now: number) => {
    for (const { lines } of workers) expect(await next(lines)).toBe(line);
    time.set(now);
    for (const { worker } of workers) worker.stdin?.write('go\n');
  };
  try {
    // Far enough from the turn for the first numbers of each on a busy machine.
    await whenAllSay('ready', TURN - 600_000);
    await whenAllSay('begun', TURN - 1000);
    return await Promise.all(workers.map(async ({ lines }) => JSON.parse(await next(lines)) as Given));
  } finally {
    for (const { worker } of workers) {
      worker.kill('SIGKILL');
      if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
    }
  }
}

const ofYear = (year: number, texts: string[]) => texts.filter((text) => text.startsWith(`INV-${year}-`));
const numbers = (year: number, count: number) =>
  Array.from({ length: count }, (_, i) => `INV-${year}-${String(i + 1).padStart(6, '0')}`);

const DATABASES: [
  string,
  ServiceName[],
  (env: Record<string, string>) => Promise<{ url: string; stop(): Promise<unknown> }>,
][] = [
  ['PostgreSQL', ['postgres', 'faketime'], (env) => startPostgres({ env })],
  ['MariaDB', ['mariadb', 'faketime'], (env) => startMariadb({ env })],
  ['SQLite', ['faketime'], startSqlite],
];

async function startSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-turn-'));
  const stop = async () => rmSync(folder, { recursive: true, force: true });
  return { url: `sqlite:${join(folder, 'ids.db')}`, stop };
}

const YEARLY = { format: 'INV-{yyyy}-{n:6}', period: 'year', timeZone: 'Europe/Berlin' } as const;

/** A database server, with connections for transactions. */
interface Server {
  connect(url: string): Promise<{
    begin(): Promise<unknown>;
    client: object;
    commit(): Promise<unknown>;
    end(): Promise<unknown>;
  }>;
  /** A query for the number of transactions that wait for a lock. */
  readonly waiting: string;
}

const SERVERS: Record<string, Server> = {
  PostgreSQL: {
    async connect(url) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const send = (sql: string) => () => client.query(sql);
      return { client, begin: send('BEGIN'), commit: send('COMMIT'), end: () => client.end() };
    },
    waiting: 'SELECT CAST(count(*) AS text) AS n FROM pg_locks WHERE NOT granted',
  },
  MariaDB: {
    async connect(url) {
      const client = await createConnection(url);
      // InnoDB measures a wait by the clock that the test sets forward.
      await client.query('SET SESSION innodb_lock_wait_timeout = 1000000');
      return {
        client,
        begin: () => client.beginTransaction(),
        commit: () => client.commit(),
        end: () => client.end(),
      };
    },
    waiting:
      "SELECT CAST(count(*) AS CHAR) AS n FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
  },
};

for (const [title, needs, start] of DATABASES)
  await describeWith(needs, `The turn of the year in ${title}`, () => {
    let time: FakeTime;
    let server: { url: string; stop(): Promise<unknown> };
    beforeAll(async () => {
      time = new FakeTime();
      server = await start(time.env);
    });
    afterAll(async () => {
      await server?.stop();
      time?.remove();
    });

    it('gives no number twice, none in the wrong order, and skips none in transactions', async () => {
      // The tables are there before the workers, as in a database that is in use.
      const ids = await connect(server.url);
      await ids.series('gapless', YEARLY);
      await ids.close();
      // In SQLite the clock is that of the programs. On a server, the programs' own clocks are years behind.
      const given = await overTheTurn(time, server.url, server.url.startsWith('sqlite') ? time.env : {});

      expect(given.flatMap(({ wrong }) => wrong)).toEqual([]);
      for (const kind of ['fast', 'gapless'] as const) {
        const all = given.flatMap((worker) => worker[kind]);
        expect(new Set(all).size, kind).toBe(all.length);
        // No process gets a number of the old year after one of the new year, and none gets a lower number after a higher one.
        for (const worker of given) expect(worker[kind]).toEqual([...worker[kind]].sort());
        expect(ofYear(2031, all).length, kind).toBeGreaterThanOrEqual(WORKERS * 10);
        expect(ofYear(2032, all).length, kind).toBeGreaterThanOrEqual(WORKERS * 20);
        expect(ofYear(2031, all).length + ofYear(2032, all).length, kind).toBe(all.length);
      }
      const gapless = given.flatMap((worker) => worker.gapless).sort();
      for (const year of [2031, 2032]) {
        const kept = ofYear(year, gapless);
        expect(kept).toEqual(numbers(year, kept.length));
      }
    });

    const waits = SERVERS[title];
    it.skipIf(waits === undefined)(
      'a transaction that waits over the turn gets the new year, and a clock that is set back goes on in the old one',
      async () => {
        time.set(TURN - 3_600_000);
        const ids = await connect(server.url);
        const invoices = await ids.series('waiting', YEARLY);
        const [first, second, admin] = await Promise.all([1, 2, 3].map(() => waits!.connect(server.url)));
        await first!.begin();
        expect(await invoices.next({ in: first!.client })).toBe('INV-2031-000001');
        await second!.begin();
        const pending = invoices.next({ in: second!.client });
        const sql = sqlExecutor(admin!.client);
        // InnoDB shows a new state only to who has not asked for a tenth of a second.
        do await setTimeout(150);
        while (String((await sql.query(waits!.waiting))[0]?.n) === '0');
        time.set(TURN);
        await first!.commit();
        expect(await pending).toBe('INV-2032-000001');
        await second!.commit();
        time.set(TURN - 3_600_000);
        await first!.begin();
        expect(await invoices.next({ in: first!.client })).toBe('INV-2031-000002');
        await first!.commit();
        await Promise.all([first, second, admin].map((each) => each!.end()));
        await ids.close();
      },
    );
  });
