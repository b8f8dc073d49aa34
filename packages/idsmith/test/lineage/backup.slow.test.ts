import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'libsql';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith, FakeTime, postgresTool, type ServiceName, startPostgres } from '#services';
import { bin } from '../cli/run.ts';

// "Backups and restores" of docs/operating.md, step by step, with a machine that is 8 seconds behind. The restore writes into the same file or the
// same tables, so nothing but the command of step 3 tells that the store went back.

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('./mint-on-demand.mjs', import.meta.url));
const BEHIND = 8000;

/** A store that can be backed up, and restored in place. */
interface Restorable {
  readonly url: string;
  backup(): Promise<unknown>;
  restore(): Promise<unknown>;
}

async function sqlite(): Promise<Restorable> {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, copy] = [join(folder, 'ids.db'), join(folder, 'backup.db')];
  return {
    url: `sqlite:${file}`,
    async backup() {
      const db = new Database(file);
      db.exec(`VACUUM INTO '${copy}'`);
      db.close();
    },
    async restore() {
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
      copyFileSync(copy, file);
    },
  };
}

async function postgres(env: Record<string, string>): Promise<Restorable> {
  const server = await startPostgres({ env });
  onTestFinished(() => server.stop());
  const { url, dir } = server;
  const dump = join(dir, 'backup.sql');
  const tables = 'idsmith_leases, id_sequences, idsmith_pasts';
  return {
    url,
    backup: async () => run(await postgresTool('pg_dump'), ['--data-only', '--file', dump, url]),
    restore: async () =>
      run(await postgresTool('psql'), ['--quiet', '-c', `TRUNCATE ${tables}`, '--file', dump, url]),
  };
}

/** Ids of each kind, as a program prints them. */
type Given = Record<'flakes' | 'orders' | 'invoices', string[]>;

/** A process that mints when it is asked to. */
class Program {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(env: Record<string, string>, ...args: string[]) {
    this.#child = spawn(process.execPath, [PROGRAM, ...args], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => this.kill());
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** The next line that it prints. */
  async said<T = unknown>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the program has ended');
    return JSON.parse(value) as T;
  }

  async mint(count: number): Promise<Given> {
    this.#child.stdin!.write(`${count}\n`);
    return this.said();
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

const CASES: [
  title: string,
  needs: ServiceName[],
  start: (env: Record<string, string>) => Promise<Restorable>,
][] = [
  ['SQLite', ['faketime'], sqlite],
  ['PostgreSQL', ['faketime', 'postgres'], postgres],
];

for (const [title, needs, start] of CASES)
  await describeWith(needs, `A backup of ${title} that is restored as docs/operating.md says`, () => {
    function clock(behind: number): FakeTime {
      const time = new FakeTime();
      onTestFinished(() => time.remove());
      time.set(Date.now() - behind);
      return time;
    }

    it('repeats nothing on machines whose clocks are 8 seconds behind', async () => {
      const [right, behind] = [clock(0), clock(BEHIND)];
      const { url, backup, restore } = await start(right.env);
      const given: Given[] = [];
      const started = async (time: FakeTime) => {
        const programs = [new Program(time.env, url), new Program(time.env, url)];
        for (const program of programs) expect(await program.said()).toBe('ready');
        return programs;
      };
      const mint = async (programs: Program[]) => {
        given.push(...(await Promise.all(programs.map((program) => program.mint(14_000)))));
      };
      const command = async (...words: string[]) =>
        (
          await run(process.execPath, [bin, ...words, '--store', url], {
            env: { ...process.env, ...behind.env },
          })
        ).stdout;

      const first = new Program(right.env, url);
      expect(await first.said()).toBe('ready');
      given.push(await first.mint(1000));
      await backup();
      // These take node ids that the backup does not know.
      const old = await started(right);
      await mint(old);
      // 1. Stop every process that mints. 2. Restore.
      for (const program of [first, ...old]) await program.kill();
      await restore();
      // 3. Say so.
      const { namespaces, sequences } = JSON.parse(await command('restored', '--yes', '--json'));
      // 4. Compare each sequence with your own tables. More orders than the ceiling covers have got a number since the backup.
      const highest = given.flatMap(({ orders }) => orders.map(Number)).reduce((a, b) => Math.max(a, b));
      const { next } = sequences.find(({ name }: { name: string }) => name === 'orders');
      expect(highest).toBeGreaterThan(Number(next));
      await command('seq', 'alter', 'orders', '--next', String(highest + 1));
      // 5. Start the processes. They wait, here until the clocks are moved.
      expect(await new Program(behind.env, url, '0').said()).toBe('LEASES_EXHAUSTED');
      const [{ waitsUntil }] = namespaces;
      right.set(waitsUntil + BEHIND);
      behind.set(waitsUntil);
      await mint(await started(behind));
      for (const kind of ['flakes', 'orders', 'invoices'] as const) {
        const all = given.flatMap((each) => each[kind]);
        expect(all.length).toBe({ flakes: 57_000, orders: 114_000, invoices: 57 }[kind]);
        expect(new Set(all).size).toBe(all.length);
      }
    });
  });
