import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditIds, countIds, disorder, wrongTimes } from '../audit/audit.js';
import {
  applyFault,
  CLOCK_AHEAD,
  COPY_FAULTS,
  NETWORK_FAULTS,
  PROCESS_FAULTS,
  runTrack,
  stepsOf,
} from '../faults.js';
import { readRecords } from '../history/history.js';
import { between, seededRandom } from '../random.js';
import type { Finding } from '../report/report.js';
import type { Task } from '../workers/task.js';
import { until, type WorkerProcess, WorkerProcesses } from '../workers/worker-processes.js';
import {
  ANSWER_MS,
  CHAOS_NAMESPACE,
  NODE_IDS,
  type TrialSetup,
  type TrialStore,
  TTL,
} from './trial-store.js';

/** More processes than node ids. */
const PROCESSES = 8;
const HOUR = 3_600_000;
const START_MS = 120_000;
/** The longest time until service resumes, ms: clients wait up to ten seconds for an answer that is lost. */
const RECOVERY_MS = 60_000;
/** The pause between two handfuls of ids, ms: less than a tick, so that windows that overlap would show. */
const PAUSE = 15;
/** The most problems of a kind that are told. */
const SHOWN = 5;

/** How long, and with which faults. */
export interface ChaosOptions {
  /** The same faults come in the same order for the same seed. */
  readonly seed: number;
  /** The least time with faults. Every fault comes at least once in any case. */
  readonly seconds?: number;
  /** Called with a line for each fault. */
  readonly log?: (line: string) => void;
}

/** What came of a run. */
export interface ChaosReport {
  readonly store: string;
  readonly seed: number;
  readonly ids: number;
  /** The number of them that are locality UUIDs. */
  readonly localityIds: number;
  readonly processes: number;
  /** The number of faults of each kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** The number of events of each kind that processes have told. */
  readonly events: Readonly<Record<string, number>>;
  /** The time from the last fault until service had resumed, ms. */
  readonly recoveryMs: number | undefined;
  /** Empty is what every run wants. */
  readonly problems: readonly string[];
  /** The folder with the ids of processes and their errors, if there were problems. */
  readonly folder?: string;
}

/** Lets processes mint with leases of few node ids from a store that crashes and is cut off, and checks all that they have handed out. */
export async function runChaos(name: string, setup: TrialSetup, options: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), `idsmith-chaos-${name}-`));
  const store = await setup.start(folder);
  const run = new ChaosRun(folder, store, setup, options);
  try {
    const report = await run.report(name);
    if (report.problems.length > 0) return { ...report, folder };
    rmSync(folder, { recursive: true });
    return report;
  } finally {
    await run.workers.killAll();
    await store.stop();
  }
}

class ChaosRun {
  readonly workers: WorkerProcesses;
  readonly #store: TrialStore;
  readonly #setup: TrialSetup;
  readonly #options: ChaosOptions;
  readonly #faults = new Map<string, number>();
  /** Processes whose clocks are wrong by an hour from the beginning. */
  #wrong: WorkerProcess[] = [];

  constructor(folder: string, store: TrialStore, setup: TrialSetup, options: ChaosOptions) {
    this.#store = store;
    this.#setup = setup;
    this.#options = options;
    const random = seededRandom(options.seed);
    const { maxSkew } = setup;
    this.workers = new WorkerProcesses(folder, (number) => ({
      number,
      // By turns, so that neither family has enough processes to hold all node ids of the one namespace.
      families: [number % 2 === 0 ? 'locality' : 'flakes'],
      names: { flakes: CHAOS_NAMESPACE, locality: CHAOS_NAMESPACE, uuid7: CHAOS_NAMESPACE, sequences: '' },
      // A clock that is as wrong as is still right.
      offset: Math.round(maxSkew * between(random, -0.4, 0.4)),
      pause: PAUSE,
      timeout: ANSWER_MS,
      ...this.#terms(true),
    }));
  }

  /** @param isLong true for the longest leases that the store allows */
  #terms(isLong: boolean): Pick<Task, 'target' | 'lease'> {
    const { target, ttl } = (isLong && this.#store.long) || { target: this.#store.target, ttl: TTL };
    return { target, lease: { size: NODE_IDS, ttl, maxSkew: this.#setup.maxSkew } };
  }

  async report(store: string): Promise<ChaosReport> {
    const begin = Date.now();
    const recoveryMs = await this.#run();
    const { workers } = this;
    const ids = workers.all.flatMap((worker) => [...readRecords(worker.ids())]);
    const { hasClock } = this.#setup;
    const findings = [auditIds(ids).findings, disorder(ids)];
    if (hasClock) findings.push(wrongTimes(ids, begin, Date.now()));
    return {
      store,
      seed: this.#options.seed,
      ids: ids.length,
      localityIds: countIds(ids, ['locality']).locality ?? 0,
      processes: workers.all.length,
      faults: Object.fromEntries(this.#faults),
      events: sumOfEvents(workers.all),
      recoveryMs,
      problems: [
        ...workers.problems,
        ...workers.all.flatMap(({ name, unexpected }) => unexpected.map((text) => `${name}: ${text}`)),
        ...(hasClock ? this.#unrefused() : []),
        ...findings.flatMap(abridged),
      ],
    };
  }

  /** Everything from the first id to the end of the last process. Gives the time until service resumed after the faults, ms. */
  async #run(): Promise<number | undefined> {
    const { workers } = this;
    const { problems } = workers;
    await this.#start();
    if ((await workers.untilMinting(NODE_IDS, START_MS)) === undefined) problems.push('minting never began');
    // Two at a time: while one of the processes has a fault, the store may have one, too.
    const { proxies, faults: storeFaults } = this.#store;
    const network = proxies.length > 0 ? NETWORK_FAULTS : [];
    const tracks = await Promise.allSettled([
      this.#track(1, [...PROCESS_FAULTS, ...COPY_FAULTS]),
      this.#track(2, [...Object.keys(storeFaults), ...network]),
    ]);
    for (const outcome of tracks) if (outcome.status === 'rejected') throw outcome.reason;
    const recoveryMs = await workers.untilMinting(this.#setup.minting, RECOVERY_MS);
    if (recoveryMs === undefined)
      problems.push(`only ${workers.mintingCount} minted ${RECOVERY_MS} ms after the last fault`);
    await workers.endAll();
    return recoveryMs;
  }

  /**
   * Starts the first processes. On a store that can forget, half of them have a lower limit. They start when the namespace has
   * the higher one, and are ready when they have seen it: a process that has not seen it would wait too short a time after a loss.
   */
  async #start(): Promise<void> {
    const { workers } = this;
    const hasLimits = this.#store.long !== undefined;
    workers.start();
    if (hasLimits) await until(() => workers.mintingCount > 0, START_MS);
    const lowered: WorkerProcess[] = [];
    while (workers.all.length < PROCESSES)
      if (hasLimits && workers.all.length % 4 < 2) lowered.push(workers.start(this.#terms(false)));
      else workers.start();
    this.#wrong = [HOUR, -HOUR].map((offset) => workers.start({ offset }));
    await until(() => lowered.every(hasSeenNamespace), START_MS);
  }

  #track(number: number, faults: readonly string[]): Promise<void> {
    const { seed, seconds = 0, log = () => {} } = this.#options;
    const { proxies, faults: storeFaults } = this.#store;
    const scene = { workers: this.workers, proxies, storeFaults, ttl: TTL };
    const end = Date.now() + seconds * 1000;
    // Each track has a seed of its own: which of them comes first is not in the seed.
    const steps = stepsOf(seed + number, faults, this.#setup.hasClock ? [] : [CLOCK_AHEAD]);
    const apply = (step: Parameters<typeof applyFault>[0]) => {
      log(`${new Date().toISOString()} ${step.fault}`);
      return applyFault(step, scene);
    };
    return runTrack(steps, apply, {
      pause: [100, 400],
      counts: this.#faults,
      isOver: (done) => done >= faults.length && Date.now() >= end,
    });
  }

  /** Processes whose clock was wrong all the time, and who minted or were not told why they could not. */
  #unrefused(): string[] {
    return this.#wrong
      .filter((worker) => worker.ids().length > 0 || !worker.events.has('refused CLOCK'))
      .map(({ name }) => `${name} was not refused for its wrong clock`);
  }
}

/** True after a look at the records of the namespace. */
const hasSeenNamespace = ({ events }: WorkerProcess) =>
  events.has('acquired') || events.has('refused LEASES_EXHAUSTED');

function sumOfEvents(workers: readonly WorkerProcess[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [event, count] of workers.flatMap(({ events }) => [...events]))
    sums[event] = (sums[event] ?? 0) + count;
  return sums;
}

/** The first few of many, and how many there are. */
function abridged(findings: readonly Finding[]): string[] {
  const shown = findings.slice(0, SHOWN).map(({ detail }) => detail);
  const more = findings.length - SHOWN;
  return more > 0 ? [...shown, `… and ${more} more of these`] : shown;
}

/** A report as lines for people. */
export function showChaosReport(report: ChaosReport): string {
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([kind, count]) => `${count} × ${kind}`)
      .join(', ');
  const { store, seed, ids, localityIds, processes, recoveryMs, problems, folder } = report;
  const resumed =
    recoveryMs === undefined ? 'service did not resume' : `service resumed after ${recoveryMs} ms`;
  return [
    `${store}, seed ${seed}: ${ids} ids, ${localityIds} of them locality UUIDs, by ${processes} processes, ${resumed}`,
    `  faults: ${list(report.faults)}`,
    `  events: ${list(report.events)}`,
    ...problems.map((problem) => `  PROBLEM ${problem}`),
    ...(folder === undefined ? [] : [`  ids and errors are kept in ${folder}`]),
  ].join('\n');
}
