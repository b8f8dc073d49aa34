import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from 'idsmith/internal/stores';
import type { Family } from '../../families.js';
import {
  applyFault,
  CLOCK_AHEAD,
  NETWORK_FAULTS,
  PROCESS_FAULTS,
  runTrack,
  type Scene,
  stepsOf,
} from '../../faults.js';
import { AnswerLimit, type History, readRecords } from '../../history/history.js';
import { FaultyProxy } from '../../proxy/faulty-proxy.js';
import { between, seededRandom } from '../../random.js';
import { openTarget, routeOf, type StoreTarget } from '../../target.js';
import { REQUEST_FAULTS, type Task } from '../../workers/task.js';
import { WorkerProcesses } from '../../workers/worker-processes.js';

/** The most time for the first processes to mint, ms, besides the waits that a store demands. */
const START_MS = 30_000;
/** The pause between two handfuls of ids, ms: less than a tick, so that windows that overlap would show. */
const PAUSE = 25;

/** How processes mint, and how long faults come. */
export interface FaultRunOptions {
  readonly target: StoreTarget;
  readonly families: readonly Family[];
  readonly names: Task['names'];
  readonly processes: number;
  readonly seconds: number;
  readonly seed: number;
  readonly ttl: number;
  readonly maxSkew: number;
  /** The longest wait for an answer of the store, ms. */
  readonly timeout: number;
  /** The longest time until a new namespace can be used, ms, besides the ttl. */
  readonly foundingMs: number;
  readonly hasClock: boolean;
  readonly signal: AbortSignal;
  onProgress(share: number, faults: number): void;
}

/** What came of it. */
export interface FaultRunOutcome {
  readonly history: History;
  readonly faults: Readonly<Record<string, number>>;
  readonly untried: readonly string[];
  readonly processes: number;
  /** False if no proxy could stand before the store. */
  readonly hasProxy: boolean;
}

/** Lets processes mint for a time while faults affect them, the store and the ways to it. */
export async function faultRun(options: FaultRunOptions): Promise<FaultRunOutcome> {
  const { ttl, signal, timeout } = options;
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-verify-'));
  const { target, proxies } = await behindProxies(options.target, timeout);
  const workers = new WorkerProcesses(folder, taskOf(options, target));
  try {
    for (let i = 0; i < options.processes; i++) workers.start();
    await begin(workers, options);
    const counts = await applyFaults({ workers, proxies, ttl, signal }, options);
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

function taskOf(options: FaultRunOptions, target: StoreTarget): (number: number) => Task {
  const { families, names, processes, ttl, maxSkew, timeout } = options;
  const random = seededRandom(options.seed + 2);
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
  { ttl, foundingMs, families, signal, onProgress }: FaultRunOptions,
): Promise<void> {
  const deadline = performance.now() + START_MS + ttl + foundingMs;
  const isMinting = () => {
    const minted = new Set(
      workers.all.flatMap((worker) => [...readRecords(worker.ids())].map(({ family }) => family)),
    );
    return families.every((family) => minted.has(family)) && workers.all.every(({ isReady }) => isReady);
  };
  while (!isMinting() && performance.now() < deadline) {
    if (workers.all.every(({ unexpectedExit }) => unexpectedExit !== undefined)) return;
    onProgress(0, 0);
    await sleep(200, undefined, { signal });
  }
}

/** Applies the faults of both schedules until the time is over. */
async function applyFaults(
  scene: Scene,
  { seconds, seed, hasClock, signal, onProgress }: FaultRunOptions,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const begun = performance.now();
  const isOver = () => performance.now() - begun >= seconds * 1000;
  const track = (steps: ReturnType<typeof stepsOf>) =>
    runTrack(steps, (step) => applyFault(step, scene), { pause: [100, 400], counts, isOver, signal });
  const ticking = setInterval(() => {
    const total = [...counts.values()].reduce((sum, number) => sum + number, 0);
    onProgress((performance.now() - begun) / (seconds * 1000), total);
  }, 200);
  try {
    await Promise.all([
      track(stepsOf(seed, processFaults(process.platform !== 'win32'), hasClock ? [] : [CLOCK_AHEAD])),
      track(stepsOf(seed + 1, scene.proxies.length > 0 ? NETWORK_FAULTS : [])),
    ]);
  } finally {
    clearInterval(ticking);
  }
  return counts;
}

/** The faults of processes and their requests. @param canStop true if processes can be stopped and continued: not on Windows */
export function processFaults(canStop: boolean): string[] {
  return [...PROCESS_FAULTS, ...REQUEST_FAULTS].filter(
    (fault) => canStop || fault !== 'stopped for longer than its lease',
  );
}
