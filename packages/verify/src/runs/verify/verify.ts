import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from 'idsmith';
import { reasonOf, withTimeout } from 'idsmith/internal/stores';
import { auditHistory, countIds } from '../../audit/audit.js';
import type { Family } from '../../families.js';
import {
  applyFault,
  CLOCK_AHEAD,
  NETWORK_FAULTS,
  PROCESS_FAULTS,
  processFaults,
  runTrack,
  type Scene,
  stepsOf,
} from '../../faults.js';
import {
  AnswerLimit,
  CallLog,
  type History,
  readRecords,
  recorded,
  wrapStore,
} from '../../history/history.js';
import { FaultyProxy } from '../../proxy/faulty-proxy.js';
import { between, seededRandom } from '../../random.js';
import { type Finding, latencyOf, type Report, verdictOf } from '../../report/report.js';
import { openTarget, routeOf, type StoreTarget } from '../../target.js';
import { REQUEST_FAULTS, type Task } from '../../workers/task.js';
import { WorkerProcesses } from '../../workers/worker-processes.js';
import {
  auditDifference,
  type Conformance,
  clockDifference,
  conform,
  evictionHints,
  probe,
  readEvictions,
} from './behaviour.js';
import { removeOldRuns, TrialNames } from './trial-names.js';

/** The ttl of leases, ms. Short, so that the node id of a killed process is soon free again. */
const TTL = 2000;
/** A lease waits for an answer for a third of its ttl. That must be many times longer than an answer takes. */
const TTL_PER_ANSWER = 30;
/** The most that clocks of processes differ, ms, besides the difference that was measured. */
const SKEW = 1000;
/** The date of a namespace may need this long to reach its store, ms, besides twice the skew and the longest ttl. */
const ON_THE_WAY = 1000;

/** The most time for the first processes to mint, ms, besides the waits that a store demands. */
const START_MS = 30_000;
/** The pause between two handfuls of ids, ms: less than a tick, so that windows that overlap would show. */
const PAUSE = 25;

/** The longest wait for a connection to close, ms. */
const CLOSE_MS = 5000;

/** Options of {@link verify}. */
export interface VerifyOptions {
  readonly families: readonly Family[];
  readonly processes: number;
  readonly minutes: number;
  readonly seed: number;
  /** The longest wait for an answer of the store, ms. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** @param share the part of this phase that is done, from 0 to 1 */
  onProgress(share: number, text: string): void;
}

/**
 * Tries a store: how it answers, how it behaves, and what processes mint with it under faults. Leaves nothing behind. Ends with a
 * report whatever the store does, unless the store cannot be opened or its first answer is an error.
 */
export async function verify(target: StoreTarget, name: string, options: VerifyOptions): Promise<Report> {
  const begin = Date.now();
  const limit = new AnswerLimit(options.timeout, { isFinal: true, signal: options.signal });
  const strays = new StrayErrors();
  try {
    return await withStores(target, limit, async (connections) => {
      const stores = connections.map((store) => limit.on(store)) as [Store, Store];
      const notes = await removeOldRuns(stores[0]);
      const before = await readEvictions(target);
      const trial = new Trial(stores, target, limit, options);
      const stop = await trial.run().catch((error) => {
        if (options.signal.aborted) return options.signal.reason;
        trial.findings.push({ rule: 'service', detail: `${trial.step}: ${reasonOf(error)}` });
      });
      options.onProgress(1, 'removing the names of this run');
      const left = await removeNames(trial.names, connections[0], target);
      if (stop !== undefined) throw withNames(stop, left);
      const after = await readEvictions(target);
      const { outcome, conformance, log, difference } = trial;
      const { faults = {}, untried = [], processes = 0 } = outcome ?? {};
      const findings = [...trial.findings, ...strays.findings()];
      if (outcome === undefined)
        notes.push('processes and faults were left out, because a rule was broken before');
      else if (!outcome.hasProxy) notes.push(NO_PROXY);
      if (limit.unanswered.length > 0) notes.push(UNANSWERED);
      return {
        ...verdictOf(findings),
        hints: evictionHints(before, after, findings.length > 0),
        store: name,
        schema: (await stores[0].schemaVersion?.().catch(() => undefined)) ?? null,
        seed: options.seed,
        figures: {
          ids: countIds(outcome?.history.ids ?? [], options.families),
          faults,
          untried,
          processes,
          operations: log.calls.length + (outcome?.history.calls.length ?? 0),
          latency: trial.latency(),
          clockDifference: difference ?? null,
          cases: { passed: conformance?.passed ?? 0, failed: conformance?.failed ?? 0 },
          seconds: (Date.now() - begin) / 1000,
        },
        notes,
        left,
      };
    });
  } finally {
    strays.end();
  }
}

const UNANSWERED =
  'calls without an answer may be carried out after the end of this run: idsmith verify --clean removes what they leave';

/** Errors that nobody handles, for example in a store of the user's own. They would end the process in the middle of a run. */
class StrayErrors {
  readonly #errors: unknown[] = [];
  readonly #note = (error: unknown) => void this.#errors.push(error);

  constructor() {
    process.on('uncaughtException', this.#note);
    process.on('unhandledRejection', this.#note);
  }

  findings(): Finding[] {
    return this.#errors.map((error) => ({
      rule: 'behaviour',
      detail: `an error that nobody handles: ${reasonOf(error)}`,
    }));
  }

  end(): void {
    process.off('uncaughtException', this.#note);
    process.off('unhandledRejection', this.#note);
  }
}

/** Opens two connections for `use`, and closes them. */
async function withStores<T>(
  target: StoreTarget,
  limit: AnswerLimit,
  use: (stores: readonly [Store, Store]) => Promise<T>,
): Promise<T> {
  const open = () => limit.wait('open', () => openTarget(target));
  const store = await open();
  try {
    const second = await open();
    try {
      return await use([store, second]);
    } finally {
      await close(second);
    }
  } finally {
    await close(store);
  }
}

/** Closes a connection, or gives it up. */
const close = (store: Store) => withTimeout(store.close(), CLOSE_MS).catch(() => undefined);

/** Removes the names of the run, if need be on another connection: one call without an answer may hold up all later ones. */
async function removeNames(trialNames: TrialNames, store: Store, target: StoreTarget): Promise<string[]> {
  const left = await trialNames.remove(store);
  if (left.length === 0) return [];
  const fresh = await withTimeout(openTarget(target), CLOSE_MS).catch(() => undefined);
  if (fresh === undefined) return left;
  return await trialNames.remove(fresh).finally(() => close(fresh));
}

/** The reason of a stop, with the names that are still in the store. */
function withNames(stop: unknown, left: readonly string[]): unknown {
  if (left.length > 0 && stop instanceof Error)
    stop.message = [stop.message, `still in the store: ${left.join(', ')}`]
      .filter((text) => text !== '')
      .join('; ');
  return stop;
}

const SUITES = 'the suites';

const NO_PROXY =
  'no proxy could stand before the store (a file, TLS, a module of your own, or Redis servers that do not tell their addresses), so requests were ' +
  'lost, late and repeated within the processes only';

/** The steps of a run, and what has come of them so far. */
class Trial {
  /** The step that is going on, for messages. */
  step = '';
  readonly findings: Finding[] = [];
  /** The calls of this process. */
  readonly log = new CallLog();
  readonly names: TrialNames;
  difference: number | undefined;
  conformance: Conformance | undefined;
  outcome: FaultRunOutcome | undefined;
  readonly #stores: readonly [Store, Store];
  readonly #target: StoreTarget;
  readonly #limit: AnswerLimit;
  readonly #options: VerifyOptions;

  constructor(
    stores: readonly [Store, Store],
    target: StoreTarget,
    limit: AnswerLimit,
    options: VerifyOptions,
  ) {
    this.names = new TrialNames(stores[0], options.minutes * 60_000);
    this.#stores = stores;
    this.#target = target;
    this.#limit = limit;
    this.#options = options;
  }

  /** One step after the other, up to the first that breaks a rule. */
  async run(): Promise<void> {
    const { signal, onProgress } = this.#options;
    const steps: readonly [step: string, work: () => Promise<readonly Finding[]>][] = [
      ['the clock of the store', () => this.#compareClocks()],
      ['two connections in turns', () => probe(this.#stores, this.names, this.log)],
      ['the conformance suites', () => this.#conform()],
      ['processes and faults', () => this.#mint()],
      ['the last look', () => this.#audit()],
    ];
    for (const [step, work] of steps) {
      signal.throwIfAborted();
      this.step = step;
      onProgress(0, step);
      this.findings.push(...(await work()));
      if (this.findings.length > 0) return;
    }
  }

  /** The latency of the two connections, one call at a time. The suites ask many things at once. */
  latency(): Report['figures']['latency'] {
    return latencyOf(this.log.calls.filter(({ by }) => by !== SUITES));
  }

  async #compareClocks(): Promise<readonly Finding[]> {
    this.difference = await clockDifference(this.#stores[0]);
    return auditDifference(this.difference);
  }

  async #conform(): Promise<readonly Finding[]> {
    const { signal, onProgress } = this.#options;
    const cases = recorded(onThisClock(this.names.noting, this.difference), this.log.by(SUITES));
    this.conformance = await conform(
      cases,
      this.names.base,
      (share) => onProgress(share, this.step),
      () => signal.aborted || this.#limit.unanswered.length > 0,
    );
    return this.conformance.findings;
  }

  async #mint(): Promise<readonly Finding[]> {
    const [store] = this.#stores;
    const begun = Date.now();
    const names = namesOf(this.names);
    await this.names.note(names.flakes);
    await this.names.note(names.locality);
    // Beyond 2^53, where a rounded number would repeat.
    await store.defineSequence({
      name: this.names.noteSequence(names.sequences),
      start: 2n ** 53n + 1n,
      blockSize: 5,
    });
    const maxTtl = store.durable === false ? (store.maxTtl ?? 60_000) : 60_000;
    const ttl = Math.min(maxTtl, Math.max(TTL, Math.ceil(TTL_PER_ANSWER * this.latency().p99)));
    const maxSkew = SKEW + Math.abs(this.difference ?? 0);
    const foundingMs = store.durable === false ? maxTtl + ON_THE_WAY + 2 * maxSkew : 0;
    const terms = { names, ttl, maxSkew, foundingMs, hasClock: hasClock(store) };
    this.outcome = { begun, ...(await mintUnderFaults(this.#target, terms, this.#options)) };
    return [];
  }

  /** Reads everything once more when all processes have ended, so that the last change of each of them is compared, too. */
  async #audit(): Promise<readonly Finding[]> {
    const { history, begun } = this.outcome as FaultRunOutcome;
    const [store] = this.#stores;
    const last = new CallLog();
    const logged = recorded(store, last.by(this.step));
    const { flakes, locality, sequences } = namesOf(this.names);
    for (const namespace of [flakes, locality]) await logged.listLeases(namespace);
    await logged.describeSequence(sequences).catch(() => undefined);
    return auditHistory(
      { ...history, calls: [...history.calls, ...last.calls] },
      {
        families: this.#options.families,
        begin: begun,
        end: Date.now(),
        hasClock: hasClock(store),
        guarded: store.guarded === true,
      },
    );
  }
}

/** Tells whether the store has a clock of its own, and so can tell a wrong one. */
const hasClock = (store: Store) => store.now !== undefined && store.hostClock !== true;

/** The store with this machine's time where the two differ more than the suites allow. */
function onThisClock(store: Store, difference = 0): Store {
  if (Math.abs(difference) < SKEW) return store;
  return wrapStore(store, async (name, _args, call) =>
    name === 'now' ? ((await call()) as number) - difference : call(),
  );
}

/** The namespaces and the sequence of the processes. */
const namesOf = ({ base }: TrialNames) => ({
  flakes: `${base}flakes`,
  locality: `${base}locality`,
  uuid7: `${base}uuid7`,
  sequences: `${base}sequence`,
});

/** The terms on which processes mint with a store. */
interface MintingTerms {
  readonly names: Task['names'];
  readonly ttl: number;
  readonly maxSkew: number;
  /** The longest time until a new namespace can be used, ms, besides the ttl. */
  readonly foundingMs: number;
  readonly hasClock: boolean;
}

/** What came of processes that minted under faults. */
interface FaultRunOutcome {
  /** The time at which the processes began, Unix ms. */
  readonly begun: number;
  readonly history: History;
  readonly faults: Readonly<Record<string, number>>;
  readonly untried: readonly string[];
  readonly processes: number;
  /** False if no proxy could stand before the store. */
  readonly hasProxy: boolean;
}

/** Lets processes mint for a time while faults affect them, the store and the ways to it. */
async function mintUnderFaults(
  target: StoreTarget,
  terms: MintingTerms,
  options: VerifyOptions,
): Promise<Omit<FaultRunOutcome, 'begun'>> {
  const { ttl } = terms;
  const { signal } = options;
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-verify-'));
  const { target: proxied, proxies } = await behindProxies(target, options.timeout);
  const workers = new WorkerProcesses(folder, tasksOf(proxied, terms, options));
  try {
    for (let i = 0; i < options.processes; i++) workers.start();
    await begin(workers, terms, options);
    const counts = await applyFaults({ workers, proxies, ttl, signal }, terms, options);
    // Every process mints once more before the end, so that what was forgotten shows.
    await sleep(ttl / 2, undefined, { signal });
    // Whoever still waits on a connection that is half-open hears that there is no connection.
    for (const proxy of proxies) proxy.reset();
    await workers.endAll();
    const possible = [...PROCESS_FAULTS, ...REQUEST_FAULTS, ...(proxies.length > 0 ? NETWORK_FAULTS : [])];
    return {
      history: historyOf(workers),
      faults: Object.fromEntries(counts),
      untried: possible.filter((fault) => !counts.has(fault)),
      processes: workers.all.length,
      hasProxy: proxies.length > 0,
    };
  } finally {
    await workers.killAll();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The task of each process, by its number. */
function tasksOf(
  target: StoreTarget,
  { names, ttl, maxSkew }: MintingTerms,
  { families, processes, seed, timeout }: VerifyOptions,
): (number: number) => Task {
  const random = seededRandom(seed + 2);
  return (number) => ({
    number,
    target,
    families,
    names,
    timeout,
    // One more than there are processes: a clock that is ahead may cost a node id.
    lease: { size: processes + 1, ttl, maxSkew },
    // A clock that is as wrong as is still right.
    offset: Math.round(maxSkew * between(random, -0.3, 0.3)),
    pause: PAUSE,
    logsCalls: true,
  });
}

function historyOf({ all, problems }: WorkerProcesses): History {
  return {
    calls: all.flatMap((worker) => worker.calls()),
    ids: all.flatMap((worker) => [...readRecords(worker.ids())]),
    unexpected: [
      ...all.flatMap(({ name, unexpected }) => unexpected.map((text) => `${name}: ${text}`)),
      ...problems,
    ],
  };
}

/** The store behind proxies of its own, where that is possible. */
async function behindProxies(
  target: StoreTarget,
  timeout: number,
): Promise<{ target: StoreTarget; proxies: FaultyProxy[] }> {
  const route =
    'url' in target ? await withTimeout(routeOf(target.url), timeout).catch(() => undefined) : undefined;
  if (route === undefined) return { target, proxies: [] };
  const proxies = await Promise.all(route.places.map((place) => FaultyProxy.before(place)));
  const proxied = route.through(proxies.map(({ place }) => place));
  try {
    const limit = new AnswerLimit(timeout);
    const store = limit.on(await limit.wait('open', () => openTarget(proxied)));
    await store.listSequences().finally(() => store.close());
    return { target: proxied, proxies };
  } catch {
    // For example a server that is chosen by the name in its URL.
    await Promise.all(proxies.map((proxy) => proxy.close()));
    return { target, proxies: [] };
  }
}

/** Waits until the first processes mint. Whether they do at all is judged at the end. */
async function begin(
  workers: WorkerProcesses,
  { ttl, foundingMs }: MintingTerms,
  options: VerifyOptions,
): Promise<void> {
  const deadline = performance.now() + START_MS + ttl + foundingMs;
  const isMinting = () => {
    const minted = new Set(
      workers.all.flatMap((worker) => [...readRecords(worker.ids())].map(({ family }) => family)),
    );
    return (
      options.families.every((family) => minted.has(family)) && workers.all.every(({ isReady }) => isReady)
    );
  };
  while (!isMinting() && performance.now() < deadline) {
    if (workers.all.every(({ unexpectedExit }) => unexpectedExit !== undefined)) return;
    tellFaults(options, 0, 0);
    await sleep(200, undefined, { signal: options.signal });
  }
}

/** Applies the faults of both schedules until the time is over. */
async function applyFaults(
  scene: Scene,
  terms: MintingTerms,
  options: VerifyOptions,
): Promise<Map<string, number>> {
  const { minutes, seed, signal } = options;
  const counts = new Map<string, number>();
  const begun = performance.now();
  const share = () => (performance.now() - begun) / (minutes * 60_000);
  const isOver = () => share() >= 1;
  const track = (steps: ReturnType<typeof stepsOf>) =>
    runTrack(steps, (step) => applyFault(step, scene), { pause: [100, 400], counts, isOver, signal });
  const ticking = setInterval(() => {
    const total = [...counts.values()].reduce((sum, number) => sum + number, 0);
    tellFaults(options, share(), total);
  }, 200);
  try {
    const once = terms.hasClock ? [] : [CLOCK_AHEAD];
    await Promise.all([
      track(stepsOf(seed, processFaults(process.platform !== 'win32'), once)),
      track(stepsOf(seed + 1, scene.proxies.length > 0 ? NETWORK_FAULTS : [])),
    ]);
  } finally {
    clearInterval(ticking);
  }
  return counts;
}

function tellFaults({ processes, onProgress }: VerifyOptions, share: number, faults: number): void {
  onProgress(share, `${processes} processes mint, ${faults} faults so far`);
}
