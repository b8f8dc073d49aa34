import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultyProxy } from './proxy/faulty-proxy.js';
import { between, seededRandom, shuffledForever } from './random.js';
import { REQUEST_FAULTS, type RequestFault } from './workers/task.js';
import type { WorkerProcess, WorkerProcesses } from './workers/worker-processes.js';

// The faults of a run: which ones there are, in which order they come, and what each of them does.

/** Faults of a process. */
export const PROCESS_FAULTS = [
  'killed with -9',
  'stopped for longer than its lease',
  'clock an hour ahead',
  'clock an hour behind',
  'ended and started again',
] as const;

/** The fault that costs a store without a clock of its own a node id for an hour. */
export const CLOCK_AHEAD = PROCESS_FAULTS[2];

/** Faults of a process that is copied with its memory, as virtual machines are. */
export const COPY_FAULTS = [
  'copied, and told so',
  'copied, and the copy leaves the window to its original',
] as const;

/** Clocks that jump by a ttl, for stores without a clock: a longer jump would take node ids out of use for as long. */
export const SHORT_JUMPS = ['clock a little ahead', 'clock a little behind'] as const;

/** Faults of the connections to the store. */
export const NETWORK_FAULTS = [
  'connections cut',
  'messages delayed',
  'connections half-open',
  'connections half-open, answers lost',
] as const;

/** The faults of processes and their requests. @param canStop true if processes can be stopped and continued: not on Windows */
export function processFaults(canStop: boolean): string[] {
  return [...PROCESS_FAULTS, ...REQUEST_FAULTS].filter(
    (fault) => canStop || fault !== 'stopped for longer than its lease',
  );
}

/** One fault of a schedule. */
interface Step {
  readonly fault: string;
  /** Picks what is affected: a number from 0 up to, not including, 1. */
  readonly place: number;
  /** The strength of the fault, from 0 up to, not including, 1. */
  readonly strength: number;
  /** A share of the longest pause before the fault, from 0 up to, not including, 1. */
  readonly pause: number;
}

/**
 * The faults of a seed, in order, without end: each of them once in every round.
 *
 * @param once faults that come in the first round only
 */
export function* stepsOf(
  seed: number,
  faults: readonly string[],
  once: readonly string[] = [],
): Generator<Step> {
  const random = seededRandom(seed);
  let number = 0;
  if (faults.length === 0) return;
  for (const fault of shuffledForever(random, faults)) {
    const step = { fault, place: random(), strength: random(), pause: random() };
    if (number++ < faults.length || !once.includes(fault)) yield step;
  }
}

/** How long faults come. */
interface TrackOptions {
  /** The least and the longest pause between two faults, ms. */
  readonly pause: readonly [from: number, to: number];
  /** The number of faults of each kind so far. */
  readonly counts: Map<string, number>;
  /** True if no more faults shall come. */
  isOver(done: number): boolean;
  readonly signal?: AbortSignal;
}

/** Applies one fault after another, with a pause before each. @throws the reason of the signal, unless it is over then */
export async function runTrack(
  steps: Iterable<Step>,
  apply: (step: Step) => Promise<void>,
  { pause: [from, to], counts, isOver, signal }: TrackOptions,
): Promise<void> {
  let done = 0;
  for (const step of steps) {
    const pause = between(() => step.pause, from, to);
    await sleep(pause, undefined, { ...(signal && { signal }) }).catch(() => undefined);
    if (isOver(done++)) return;
    signal?.throwIfAborted();
    counts.set(step.fault, (counts.get(step.fault) ?? 0) + 1);
    await apply(step);
  }
}

const HOUR = 3_600_000;

/** A fault of the store itself. It is over when its promise is. */
export type StoreFault = (workers: WorkerProcesses) => Promise<void>;

/** Everything that a fault can affect. */
export interface Scene {
  readonly workers: WorkerProcesses;
  readonly proxies: readonly FaultyProxy[];
  /** The ttl of all leases, ms. */
  readonly ttl: number;
  /** Faults of the store itself, by name. */
  readonly storeFaults?: Readonly<Record<string, StoreFault>>;
  /** True if another process takes the place of one that is stopped. Then the stopped one ends when it has gone on. */
  readonly replacesStopped?: boolean;
  /** Called with a process that has ended or was killed. */
  onGone?(worker: WorkerProcess): void;
  readonly signal?: AbortSignal;
}

/** Lets a fault happen, and waits until it is over. */
export async function applyFault(step: Step, scene: Scene): Promise<void> {
  const { fault } = step;
  if (scene.storeFaults?.[fault] !== undefined) return scene.storeFaults[fault](scene.workers);
  if (fault.startsWith('connections ') || fault.startsWith('messages ')) return breakNetwork(step, scene);
  if (fault.startsWith('copied')) return copyProcess(step, scene);
  const worker = scene.workers.pick(step.place);
  if (worker !== undefined) await applyToProcess(worker, step, scene);
}

const waiting =
  ({ signal }: Scene) =>
  (ms: number) =>
    sleep(ms, undefined, { ...(signal && { signal }) });

async function breakNetwork({ fault, place, strength }: Step, scene: Scene): Promise<void> {
  const { proxies, ttl } = scene;
  // Of several nodes all are out of reach, or one.
  const affected =
    place < 0.5 ? proxies : proxies.filter((_, i) => i === Math.floor((2 * place - 1) * proxies.length));
  const during = async (ms: number, harm: (proxy: FaultyProxy) => void) => {
    for (const proxy of affected) harm(proxy);
    try {
      await waiting(scene)(ms);
    } finally {
      for (const proxy of affected) proxy.heal();
    }
  };
  switch (fault) {
    case 'connections cut':
      return during(100 + 700 * strength, (proxy) => proxy.cut());
    case 'messages delayed':
      // Up to more than a third of the ttl, which is as long as a lease waits for an answer.
      return during(500 + 500 * strength, (proxy) => proxy.delay(50 + (ttl / 2) * strength));
    case 'connections half-open':
      return during(400 + 600 * strength, (proxy) => proxy.halfOpen('everything'));
    default:
      return during(400 + 600 * strength, (proxy) => proxy.halfOpen('answers'));
  }
}

async function copyProcess({ fault, place, strength }: Step, scene: Scene): Promise<void> {
  const { workers, ttl } = scene;
  const both = await workers.copyOne(fault === 'copied, and told so', place);
  await waiting(scene)(ttl * (1.2 + 0.4 * strength));
  // One of them is one too many.
  await workers.end(both[strength < 0.5 ? 0 : 1] as WorkerProcess);
}

async function applyToProcess(worker: WorkerProcess, { fault, strength }: Step, scene: Scene): Promise<void> {
  const { workers, ttl, replacesStopped } = scene;
  const wait = waiting(scene);
  const jump = async (ms: number) => {
    worker.setClock(ms);
    await wait(600 + 600 * strength).finally(() => worker.setClock(0));
  };
  switch (fault) {
    case 'killed with -9':
      workers.start();
      await worker.kill();
      return scene.onGone?.(worker);
    case 'ended and started again':
      workers.start();
      await workers.end(worker);
      return scene.onGone?.(worker);
    case 'stopped for longer than its lease':
      worker.pause();
      if (replacesStopped) workers.start();
      await wait(ttl * (1.2 + 0.4 * strength)).finally(() => worker.resume());
      if (!replacesStopped) return;
      // It finds out that another process has its node ids.
      await wait(ttl / 2);
      await workers.end(worker);
      return scene.onGone?.(worker);
    case 'clock an hour ahead':
      return jump(HOUR);
    case 'clock an hour behind':
      return jump(-HOUR);
    case 'clock a little ahead':
      return jump(ttl);
    case 'clock a little behind':
      return jump(-ttl);
  }
  if (!(REQUEST_FAULTS as readonly string[]).includes(fault)) throw new Error(`there is no fault ${fault}`);
  worker.setRequestFault({ fault: fault as RequestFault, delay: (ttl / 2) * (0.5 + strength) });
  await wait(400 + 400 * strength).finally(() => worker.setRequestFault({ fault: 'none', delay: 0 }));
}
