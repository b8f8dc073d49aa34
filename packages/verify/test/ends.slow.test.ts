import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Activity } from '../../idsmith/src/cli/activity.ts';
import { readArguments } from '../../idsmith/src/cli/arguments.ts';
import { failureOf } from '../../idsmith/src/cli/failure.ts';
import { openStore } from '../../idsmith/src/stores/open.ts';
import { idsmith, RunningCommand } from '../../idsmith/test/cli/run.ts';
import { verifyCommand } from '../src/cli/verify-command.ts';
import { processFaults, stepsOf } from '../src/faults.ts';
import { sqliteUrl, verify } from './run-verify.ts';

const MODULE = fileURLToPath(new URL('./planted.mjs', import.meta.url));

/** A busy machine takes its time. */
const LONG = { timeout: 400_000 };

/** The processes that a process has started. */
function childrenOf(pid: number | undefined): number[] {
  try {
    return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return [];
  }
}

/** The first letter of a state: `T` for a stopped process; empty if there is none. */
function stateOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .charAt(0);
  } catch {
    return '';
  }
}

/** True while the process is there, and is more than an entry that its parent has not looked at. */
const isAlive = (pid: number) => !['', 'Z'].includes(stateOf(pid));

/** A seed with which a process is stopped before anything else happens. */
const SEED_OF_A_STOP = Array.from({ length: 1000 }, (_, seed) => seed).find((seed) => {
  const [first] = stepsOf(seed, processFaults(true));
  return first?.fault === 'stopped for longer than its lease';
});

/** A run whose processes are there, the guard of stopped ones included. */
async function begunRun(url: string, seed = 4) {
  const args = ['--minutes', '5', '--processes', '2', '--families', 'flakes', '--seed', String(seed)];
  const run = new RunningCommand('verify', '--store', url, ...args);
  await expect.poll(() => childrenOf(run.child.pid).length, { timeout: 120_000 }).toBe(3);
  return { run, children: childrenOf(run.child.pid) };
}

async function sequencesIn(url: string): Promise<string[]> {
  const store = await openStore(url);
  const names = (await store.listSequences()).map(({ name }) => name);
  await store.close();
  return names;
}

describe('idsmith verify', () => {
  it('removes everything after Ctrl-C, and its processes end', LONG, async () => {
    const url = sqliteUrl();
    const { run, children } = await begunRun(url);
    expect(await run.stop('SIGINT')).toBe(130);
    expect(await sequencesIn(url)).toEqual(['orders']);
    await expect.poll(() => children.filter(isAlive)).toEqual([]);
  });

  it(
    'leaves no process behind when it is killed, not even a stopped one, and --clean removes its names',
    LONG,
    async () => {
      const url = sqliteUrl();
      const { run, children } = await begunRun(url, SEED_OF_A_STOP);
      await expect.poll(() => children.map(stateOf), { timeout: 120_000 }).toContain('T');
      await run.stop('SIGKILL');
      await expect.poll(() => children.filter(isAlive)).toEqual([]);
      const left = (await sequencesIn(url)).filter((name) => name !== 'orders');
      expect(left.length).toBeGreaterThan(0);
      const { status, lines } = idsmith('verify', '--clean', '--store', url);
      expect(lines).toEqual([expect.stringMatching(/^removed idsmith-verify\//)]);
      expect(status).toBe(0);
      expect(await sequencesIn(url)).toEqual(['orders']);
      expect(idsmith('verify', '--clean', '--store', url).lines).toEqual(['no run has left anything']);
    },
  );

  it('shows a verdict, figures and the seed, and no bar in a pipe, also for a module', LONG, async () => {
    const args = ['--minutes', '0.02', '--processes', '1', '--families', 'sequences', '--seed', '9'];
    const env = { DEFECT: 'is healthy', STORE: sqliteUrl() };
    const { status, stdout, stderr } = await verify(['--store-module', MODULE, ...args], env);
    expect(stderr).toBe('');
    for (const line of [/^cases +\d+ of \d+ passed$/m, /^ids +[\d,]+: /m, /^calls .*p50 .*p99/m, /--seed 9/])
      expect(stdout).toMatch(line);
    expect(stdout).toMatch(/^PASSED /m);
    expect(status).toBe(0);
  });

  it('tries a temporary file in the place of a SQLite file that is not there yet', LONG, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-verify-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'ids.db');
    const args = ['--minutes', '0.02', '--processes', '1', '--families', 'sequences'];
    const { status, stdout } = await verify(['--store', `sqlite:${path}`, ...args]);
    expect(stdout).toContain(`note     there is no file ${path} yet: the run used a temporary one`);
    expect(stdout).toMatch(/^PASSED /m);
    expect([status, readdirSync(folder)]).toEqual([0, []]);
  });

  it('removes the temporary file after Ctrl-C', LONG, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-verify-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { run } = await begunRun(`sqlite:${join(folder, 'ids.db')}`);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^idsmith-verify-/)]);
    expect(await run.stop('SIGINT')).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses a path that is nearly the path of a file, and --clean any path without a file', () => {
    const url = sqliteUrl();
    const { status, stderr } = idsmith('verify', '--store', url.replace('.db', '.bd'));
    expect([status, stderr]).toEqual([1, expect.stringMatching(/there is no file .*Did you mean .*\.db\?/)]);
    const clean = idsmith('verify', '--clean', '--store', `${url}.other`);
    expect([clean.status, clean.stderr]).toEqual([1, expect.stringContaining('there is no file')]);
  });

  it('ends with a message when the store cannot be reached', () => {
    const { status, stderr, stdout } = idsmith('verify', '--store', 'redis://127.0.0.1:1');
    expect(stderr).toMatch(/^idsmith: redis store: .*127\.0\.0\.1:1.*ECONNREFUSED/);
    expect([status, stdout]).toEqual([1, '']);
  });

  it.each([
    [['--store', 'memory:'], 'belongs to one process'],
    [['--store', 'sqlite::memory:'], 'belongs to one process'],
    [[], 'verify needs --store'],
    [['--store', 'redis://h', '--minutes', '0'], '--minutes must be'],
    [['--store', 'redis://h', '--minutes', '1e9'], '--minutes must be'],
    [['--store', 'redis://h', '--processes', '0'], '--processes must be'],
    [['--store', 'redis://h', '--families', 'flake'], 'did you mean "flakes"?'],
    [['--store', 'redis://h', '--seed', 'x'], '--seed must be'],
    [['--store', 'redis://h', '--store-module', 'a.mjs'], 'not both'],
    [['--store-module', 'no-such-file.mjs'], 'cannot be loaded'],
    [['--store', 'redis://h', '--minute', '1'], 'did you mean --minutes?'],
  ])('refuses %j', async (args, message) => {
    const failure = await refusal(args).catch(failureOf);
    expect(failure).toMatchObject({ message: expect.stringContaining(message), exitCode: 2 });
  });
});

/** Runs the command in this process. */
async function refusal(args: string[]): Promise<never> {
  const { stdin, stdout, stderr, env } = process;
  const given = {
    ...readArguments(verifyCommand, args),
    signal: new AbortController().signal,
    activity: new Activity(false, stderr),
    // Not the process itself, which a run ends if something keeps it.
    io: { stdin, stdout, stderr, env },
  };
  for await (const line of verifyCommand.run(given)) throw new Error(`the command went on: ${line}`);
  throw new Error('the command went on');
}
