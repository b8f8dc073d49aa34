import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Crew } from './crew.js';
import type { Family } from './families.js';
import { happen, type Scene } from './faults.js';
import type { History } from './history.js';
import { routeOf } from './proxied-url.js';
import { FaultyProxy } from './proxy.js';
import { between, seededRandom } from './random.js';
import { REQUEST_FAULTS } from './request-faults.js';
import { NETWORK_FAULTS, PROCESS_FAULTS, type Step, tracksOf } from './schedule.js';
import { openTarget, type Target } from './target.js';
import type { Task } from './task.js';

/** The most time for the first processes to mint, ms, besides the waits that a store demands. */
const START_MS = 30_000;

/** How processes are tormented. */
export interface TormentOptions {
  readonly target: Target;
  readonly families: readonly Family[];
  readonly names: Task['names'];
  readonly processes: number;
  readonly seconds: number;
  readonly seed: number;
  readonly ttl: number;
  readonly maxSkew: number;
  /** The longest time until a new namespace can be used, ms, besides the ttl. */
  readonly foundingMs: number;
  readonly hasClock: boolean;
  readonly signal: AbortSignal;
  onProgress(share: number, faults: number): void;
}

/** What came of it. */
export interface Tormented {
  readonly history: History;
  readonly faults: Readonly<Record<string, number>>;
  readonly untried: readonly string[];
  readonly processes: number;
  /** False if no proxy could stand before the store. */
  readonly hasProxy: boolean;
}

/** Lets processes mint for a time while faults befall them, the store and the ways to it. */
export async function torment(options: TormentOptions): Promise<Tormented> {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-verify-'));
  const { target, proxies } = await behindProxies(options.target);
  const crew = new Crew(folder, taskOf(options, target));
  try {
    for (let i = 0; i < options.processes; i++) crew.hire();
    const scene = { crew, proxies, ttl: options.ttl, signal: options.signal };
    await start(crew, options);
    const faults = await suffer(scene, options);
    // Everybody mints once more before the end, so that what was forgotten shows.
    await sleep(options.ttl / 2, undefined, { signal: options.signal });
    const accidents = await crew.endAll();
    const history = crew.history();
    const canCome = [...PROCESS_FAULTS, ...REQUEST_FAULTS, ...(proxies.length > 0 ? NETWORK_FAULTS : [])];
    return {
      history: { ...history, mishaps: [...history.mishaps, ...accidents] },
      faults,
      untried: canCome.filter((fault) => faults[fault] === undefined),
      processes: crew.everyone.length,
      hasProxy: proxies.length > 0,
    };
  } finally {
    await crew.killAll();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function taskOf(options: TormentOptions, target: Target): (number: number) => Omit<Task, 'file'> {
  const { families, names, processes, ttl, maxSkew } = options;
  const random = seededRandom(options.seed + 2);
  return (number) => ({
    target,
    families,
    names,
    // One more than there are processes: a clock that is ahead may cost a node id.
    lease: { size: processes + 1, ttl, maxSkew, label: `idsmith verify, process ${number}` },
    // A clock that is as wrong as is still right.
    offset: Math.round(maxSkew * between(random, -0.3, 0.3)),
  });
}

/** The store behind proxies of its own, where that is possible. */
async function behindProxies(target: Target): Promise<{ target: Target; proxies: FaultyProxy[] }> {
  const route = 'url' in target ? routeOf(target.url) : undefined;
  if (route === undefined) return { target, proxies: [] };
  const proxies = await Promise.all(route.places.map((place) => FaultyProxy.before(place)));
  const proxied = { url: route.through(proxies.map(({ place }) => place)) };
  try {
    const store = await openTarget(proxied);
    await store.listSequences().finally(() => store.close());
    return { target: proxied, proxies };
  } catch {
    // For example a server that is chosen by the name in its URL.
    await Promise.all(proxies.map((proxy) => proxy.close()));
    return { target, proxies: [] };
  }
}

/** Waits until the first processes mint. Whether they do at all is judged at the end. */
async function start(
  crew: Crew,
  { ttl, foundingMs, families, signal, onProgress }: TormentOptions,
): Promise<void> {
  const deadline = performance.now() + START_MS + ttl + foundingMs;
  const isMinting = () => {
    const minted = new Set(crew.history().minted.map(({ family }) => family));
    return families.every((family) => minted.has(family)) && crew.everyone.every(({ isReady }) => isReady);
  };
  while (!isMinting() && performance.now() < deadline) {
    if (crew.everyone.every(({ accident }) => accident !== undefined)) return;
    onProgress(0, 0);
    await sleep(200, undefined, { signal });
  }
}

/** Lets the faults of both schedules happen until the time is over. */
async function suffer(scene: Scene, options: TormentOptions): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const begin = performance.now();
  const isOver = () => performance.now() - begin >= options.seconds * 1000;
  const along = async (steps: Iterable<Step>) => {
    for (const step of steps) {
      if (isOver()) return;
      counts[step.fault] = (counts[step.fault] ?? 0) + 1;
      await happen(step, scene);
      await sleep(step.pause, undefined, { signal: scene.signal });
    }
  };
  const { hasClock, seed } = options;
  const tracks = tracksOf(seed, {
    ...{ hasClock, hasProxy: scene.proxies.length > 0, canStop: process.platform !== 'win32' },
  });
  const ticking = setInterval(() => {
    const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
    options.onProgress((performance.now() - begin) / (options.seconds * 1000), total);
  }, 200);
  try {
    await Promise.all([along(tracks.processes), along(tracks.network)]);
  } finally {
    clearInterval(ticking);
  }
  return counts;
}
