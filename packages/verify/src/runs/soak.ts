import { execFileSync } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdArchive } from '../audit/id-archive.js';
import type { Family } from '../families.js';
import {
  applyFault,
  NETWORK_FAULTS,
  PROCESS_FAULTS,
  runTrack,
  type Scene,
  SHORT_JUMPS,
  stepsOf,
} from '../faults.js';
import { between, type Random, seededRandom } from '../random.js';
import type { Plant, Task } from '../workers/task.js';
import { type WorkerProcess, WorkerProcesses } from '../workers/worker-processes.js';
import { ANSWER_MS, type TrialSetup, type TrialStore, TTL } from './trial-store.js';

/** The pause between two looks at what processes have handed out, ms. */
const COLLECT_MS = 500;
/** The pause between two looks at processes that shall mint, ms. */
const LOOK_MS = 100;
/** The pause between two handfuls of a family, ms. */
const PAUSE = 100;
/** A source that has handed out nothing of a family for this long, ms, has waited. */
const WAIT_MS = 1000;

/** How long, on what, and with which faults. */
export interface SoakOptions {
  /** An empty folder for ids and errors. The caller removes it. */
  readonly folder: string;
  readonly stores: Readonly<Record<string, TrialSetup>>;
  readonly seconds: number;
  /** The same faults come in the same order for the same seed. */
  readonly seed: number;
  /** The number of processes that mint from each store. */
  readonly processes: number;
  /** The least and the longest time, ms, between two faults of a kind: of processes, or of a store. */
  readonly pause: readonly [from: number, to: number];
  /** The longest time, ms, in which families begin, and resume after the last fault. */
  readonly patience: { readonly begin: number; readonly resume: number };
  /** Called with each line for people. */
  readonly print: (line: string) => void;
  /** Ends the run early, with a verdict. */
  readonly signal?: AbortSignal;
  /** Planted in the first process of each store. */
  readonly plant?: Plant;
}

/** What came of a run. */
export interface SoakReport {
  readonly ids: number;
  readonly faults: number;
  readonly duplicates: number;
  /** Empty is what every run wants. */
  readonly problems: readonly string[];
}

/** Runs every family on these stores under load and faults, and checks all that was handed out. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { folder } = options;
  mkdirSync(join(folder, 'archive'));
  const archive = new IdArchive(join(folder, 'archive'));
  const runs: StoreRun[] = [];
  try {
    for (const [name, setup] of Object.entries(options.stores)) {
      const home = join(folder, name);
      mkdirSync(home);
      runs.push(new StoreRun(home, name, setup, await setup.start(home), archive, options));
    }
    const silent = await run(runs, archive, options);
    return verdict(runs, archive, silent, options.print);
  } finally {
    await Promise.all(runs.map((each) => each.stop()));
  }
}

/** Everything from the first id to the end of the last process. Returns who did not begin or resume. */
async function run(runs: readonly StoreRun[], archive: IdArchive, options: SoakOptions): Promise<string[]> {
  const problems: string[] = [];
  const allMint = async (what: 'begin' | 'resume') => {
    const waiting = runs.map(async (store) => {
      const silent = await store.silentAfter(options.patience[what]);
      for (const { key, why } of silent)
        problems.push(`${store.name}: ${key} did not ${what} within ${options.patience[what]} ms: ${why}`);
    });
    await Promise.all(waiting);
  };
  await allMint('begin');
  const isOver = new AbortController();
  setMaxListeners(0, isOver.signal);
  const end = () => isOver.abort();
  const deadline = setTimeout(end, options.seconds * 1000);
  options.signal?.addEventListener('abort', end);
  if (options.signal?.aborted) end();
  try {
    const watching = watch(runs, archive, options, isOver.signal);
    const tracks = runs.flatMap((store, i) => store.tracks(options.seed + 2 * i, options.pause, isOver));
    for (const outcome of await Promise.allSettled([watching, ...tracks]))
      if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    clearTimeout(deadline);
  }
  await allMint('resume');
  await Promise.all(runs.map((store) => store.endAll()));
  await archive.check();
  return problems;
}

/** Collects ids all the time, and prints a line of figures a minute, until `signal`. */
async function watch(
  runs: readonly StoreRun[],
  archive: IdArchive,
  { print }: SoakOptions,
  signal: AbortSignal,
): Promise<void> {
  const begin = performance.now();
  const delay = monitorEventLoopDelay({ resolution: 50 });
  delay.enable();
  let due = 60_000;
  while (!signal.aborted) {
    await sleep(COLLECT_MS, undefined, { signal }).catch(() => undefined);
    for (const store of runs) await store.collect();
    if (performance.now() - begin < due) continue;
    await archive.check();
    // On a busy machine the line may come late.
    const elapsed = performance.now() - begin;
    print(figuresLine(elapsed, runs, archive, delay.max / 1e6));
    delay.reset();
    due = 60_000 * (1 + Math.floor(elapsed / 60_000));
  }
  delay.disable();
}

/** The processes of one store, and what came of them. */
class StoreRun {
  readonly name: string;
  readonly ids = new Map<Family, number>();
  /** The number of faults of each kind. */
  readonly faults = new Map<string, number>();
  /** Errors and ends of processes that should not have been. */
  readonly problems: string[] = [];
  waits = 0;
  /** The longest time, ms, in which a source handed out nothing of a family. */
  longestWait = 0;
  readonly #setup: TrialSetup;
  readonly #store: TrialStore;
  readonly #archive: IdArchive;
  readonly #workers: WorkerProcesses;
  /** The processes that have not ended. */
  #present: WorkerProcess[] = [];
  readonly #minted = new Map<string, number>();

  constructor(
    folder: string,
    name: string,
    setup: TrialSetup,
    store: TrialStore,
    archive: IdArchive,
    { seed, processes, plant }: SoakOptions,
  ) {
    this.name = name;
    this.#setup = setup;
    this.#store = store;
    this.#archive = archive;
    const random = seededRandom(seed + name.length);
    this.#workers = new WorkerProcesses(folder, taskOf(setup, store, processes, random), name);
    // A store within a process has one process, with as many sources.
    const members = setup.isInProcess ? processes : 1;
    for (let i = 0; i < processes / members; i++) this.#workers.start({ members, ...(i === 0 && { plant }) });
    this.#present = [...this.#workers.all];
  }

  /** Two tracks of faults: while one of the processes has a fault, the store may have one, too. */
  tracks(seed: number, pause: SoakOptions['pause'], over: AbortController): Promise<void>[] {
    const { proxies, faults: storeFaults } = this.#store;
    const { isInProcess, hasClock } = this.#setup;
    const scene: Scene = {
      workers: this.#workers,
      proxies,
      storeFaults,
      ttl: TTL,
      replacesStopped: !isInProcess,
      onGone: (worker) => this.#forget(worker),
    };
    const faults = hasClock
      ? PROCESS_FAULTS
      : [...PROCESS_FAULTS.filter((fault) => !fault.startsWith('clock')), ...SHORT_JUMPS];
    // A store within a process does not survive its process.
    const possible = faults.filter((fault) => !isInProcess || !/^(killed|ended)/.test(fault));
    const track = async (steps: ReturnType<typeof stepsOf>) => {
      const { signal } = over;
      const options = { pause, counts: this.faults, isOver: () => signal.aborted, signal };
      try {
        await runTrack(steps, (step) => applyFault(step, scene), options);
      } catch (error) {
        // Without its faults a run means nothing.
        over.abort();
        throw error;
      }
    };
    const network = proxies.length > 0 ? NETWORK_FAULTS : [];
    return [
      track(stepsOf(seed, possible)),
      track(stepsOf(seed + 1, [...Object.keys(storeFaults), ...network])),
    ];
  }

  get pids(): number[] {
    return this.#present.flatMap(({ pid }) => pid ?? []);
  }

  get total(): number {
    return sum(this.ids.values());
  }

  /** Puts what was handed out since the last time into the archive, and replaces processes that ended by themselves. */
  async collect(): Promise<void> {
    for (const worker of this.#workers.all)
      if (worker.isUp && !this.#present.includes(worker)) this.#present.push(worker);
    for (const worker of [...this.#present]) {
      // While another one was replaced, this one may have ended.
      if (!this.#present.includes(worker)) continue;
      this.#collectFrom(worker);
      const { unexpectedExit } = worker;
      if (unexpectedExit === undefined) continue;
      this.problems.push(unexpectedExit);
      await worker.kill();
      this.#forget(worker);
      this.#workers.start({ members: worker.task.members ?? 1 });
    }
  }

  #collectFrom(worker: WorkerProcess): void {
    this.#archive.add(this.name, worker.readNew(), ({ family, source, waited }) => {
      this.ids.set(family, (this.ids.get(family) ?? 0) + 1);
      const key = `${family} of source ${source}`;
      this.#minted.set(key, (this.#minted.get(key) ?? 0) + 1);
      if (waited > WAIT_MS) this.waits++;
      this.longestWait = Math.max(this.longestWait, waited);
    });
  }

  /** A process has ended: everything of it is read, and its files go. */
  #forget(worker: WorkerProcess): void {
    // A process may end by itself while a fault affects it.
    if (!this.#workers.all.includes(worker)) return;
    this.#collectFrom(worker);
    this.problems.push(...worker.unexpected.map((text) => `${worker.name}: ${text}`));
    this.#present = this.#present.filter((other) => other !== worker);
    this.#workers.forget(worker);
  }

  /**
   * Waits until every source mints every family, from now on. Returns those that do not within `ms`. Time in which this
   * process is held up does not count, because the ways to the stores lead through it.
   */
  async silentAfter(ms: number): Promise<{ key: string; why: string }[]> {
    await this.collect();
    const before = new Map(this.#minted);
    for (let waited = 0; ; waited += LOOK_MS) {
      const silent = this.#present.flatMap((worker) =>
        keysOf(worker.task)
          .filter((key) => this.#minted.get(key) === before.get(key))
          .map((key) => ({ key, why: worker.failing.get(key) ?? 'no call has failed' })),
      );
      if (silent.length === 0 || waited >= ms) return silent;
      await sleep(LOOK_MS);
      await this.collect();
    }
  }

  async endAll(): Promise<void> {
    await this.collect();
    await this.#workers.endAll();
    for (const worker of [...this.#present]) this.#forget(worker);
    this.problems.push(...this.#workers.problems);
  }

  /** Ends everything at once, also after a failure. */
  async stop(): Promise<void> {
    await this.#workers.killAll();
    await this.#store.stop();
  }
}

function taskOf(
  { families, maxSkew }: TrialSetup,
  { target }: TrialStore,
  processes: number,
  random: Random,
): (number: number) => Task {
  return (number) => ({
    number,
    target,
    families,
    names: { flakes: 'soak-flakes', locality: 'soak-locality', uuid7: 'soak-uuid7', sequences: 'soak' },
    definesSequence: true,
    // One node id for each source, so that a new process takes over what another one leaves.
    lease: { size: processes, ttl: TTL, maxSkew },
    // A clock that is as wrong as is still right.
    offset: Math.round(maxSkew * between(random, -0.4, 0.4)),
    pause: PAUSE,
    timeout: ANSWER_MS,
  });
}

/** What a process has to mint. */
function keysOf({ number, members = 1, families }: Task): string[] {
  const sources = Array.from({ length: members }, (_, i) => number + i);
  return sources.flatMap((source) => families.map((family) => `${family} of source ${source}`));
}

const figure = (value: number) => value.toLocaleString('en-GB');
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

/** The resident memory of the largest of these processes, bytes. */
function largestMemory(pids: readonly number[]): number {
  if (pids.length === 0) return 0;
  try {
    const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', pids.join(',')], { encoding: 'utf8' });
    return 1024 * Math.max(0, ...kilobytes.trim().split(/\s+/).map(Number));
  } catch {
    // All of them have ended.
    return 0;
  }
}

/**
 * The figures of a run so far, in one line.
 *
 * @param heldUpMs the longest time in the minute in which this process, with its proxies, did not get to run
 */
function figuresLine(
  elapsedMs: number,
  runs: readonly StoreRun[],
  archive: IdArchive,
  heldUpMs: number,
): string {
  const longest = Math.max(0, ...runs.map(({ longestWait }) => longestWait));
  return [
    `minute ${(elapsedMs / 60_000).toFixed(1)}: ${figure(sum(runs.map(({ total }) => total)))} ids`,
    `${figure(sum(runs.map(({ waits }) => waits)))} waits (longest ${seconds(longest)})`,
    `${figure(sum(runs.flatMap(({ faults }) => [...faults.values()])))} faults`,
    `memory ${megabytes(process.memoryUsage.rss())} (largest process ${megabytes(largestMemory(runs.flatMap(({ pids }) => pids)))})`,
    `held up ${seconds(heldUpMs)}`,
    `${figure(archive.duplicates)} duplicates`,
  ].join(', ');
}

/**
 * Prints a line about each store, each problem and the whole run.
 *
 * @param silent who did not begin or resume
 */
function verdict(
  runs: readonly StoreRun[],
  archive: IdArchive,
  silent: readonly string[],
  print: (line: string) => void,
): SoakReport {
  const failures = runs.flatMap(({ name, problems }) => problems.map((line) => `${name}: ${line}`));
  const problems = [...archive.problems, ...silent, ...failures];
  for (const { name, ids, waits, longestWait, faults } of runs) {
    const families = [...ids].map(([family, count]) => `${figure(count)} ${family}`).join(', ');
    const list = [...faults].map(([fault, count]) => `${count} × ${fault}`).join(', ');
    print(`${name}: ${families}; ${waits} waits (longest ${seconds(longestWait)}); ${list}`);
  }
  for (const problem of problems) print(`PROBLEM ${problem}`);
  const ids = sum(runs.map(({ total }) => total));
  const faults = sum(runs.flatMap((store) => [...store.faults.values()]));
  const { duplicates, sharedMoments } = archive;
  print(
    `${problems.length === 0 ? 'PASSED' : 'FAILED'}: ${ids} ids, ${faults} faults, ${duplicates} duplicates, ` +
      `${sharedMoments} moments of a node id used by two processes, ${silent.length} families silent, ` +
      `${failures.length} errors and ends of processes that no fault explains`,
  );
  return { ids, faults, duplicates, problems };
}
