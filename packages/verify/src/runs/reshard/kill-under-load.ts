import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type ReshardReport, type ShardConfig, ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import { everywhere, faults, faultsThrough, populate, type SampleKey, sampleKeys } from './sample-keys.js';

// What is built: a process cannot load the sources, from which tests run.
const { resolve: scriptOf } = createRequire(import.meta.url);

/** What an application is told at its start. */
export interface Application {
  readonly from: ShardConfig;
  readonly to: ShardConfig;
  /** No two applications have the same. */
  readonly id: number;
  /** Keys that all applications raise. */
  readonly counters: readonly string[];
  /** Keys that applications only read, and their values. */
  readonly steady: readonly { readonly key: string; readonly value: string }[];
}

/** How many keys are moved, and how often movers are killed. */
export interface LoadSettings {
  readonly from: ShardConfig;
  readonly to: ShardConfig;
  readonly keys: number;
  /** The number of times that `reshard` is killed before it may finish. */
  readonly kills: number;
  /** The longest time that a run lasts before it is killed, ms. */
  readonly longest: number;
  readonly workers: number;
  /** Keys per second: slow enough that runs are killed in the middle. */
  readonly rate?: number;
  readonly log?: (line: string) => void;
  /** Something else that happens until the move is over. */
  readonly meanwhile?: (isOver: () => boolean) => Promise<void>;
}

/** What an application has done, and what was wrong. */
export interface Work {
  readonly reads: number;
  readonly writes: number;
  readonly increments: number[];
  readonly minted: string[];
  readonly things: { readonly key: string; readonly list: number; readonly hash?: string }[];
  readonly problems: string[];
}

/** What came of it. */
export interface LoadOutcome {
  readonly problems: string[];
  readonly reads: number;
  readonly writes: number;
  readonly minted: number;
  /** The number of sample keys that have another owner in the new map. */
  readonly leaving: number;
  /** The number of runs that were killed. The others ended before. */
  readonly killed: number;
  readonly report: ReshardReport;
}

/** Runs `reshard` and kills it again and again while application processes read and write. Then checks every key. */
export async function reshardUnderLoad(settings: LoadSettings): Promise<LoadOutcome> {
  const { log = () => {} } = settings;
  const isCluster = settings.to.cluster !== undefined;
  const [from, to] = [patient(settings.from), patient(settings.to)];
  const [old, next] = [new ShardMap(from), new ShardMap(to)];
  try {
    await old.genKey();
    const all = sampleKeys(old, settings.keys, Date.now() + 3_600_000);
    await populate(old, all);
    const counters = Array.from({ length: 40 }, (_, i) => old.fixedKey(4_000_000 + i, i, 4));
    const steady = all
      .filter(({ number }) => number % 6 === 0 && number % 70 !== 69)
      .slice(0, 2000)
      .map(({ key, number }) => ({ key, value: `value ${number}` }));
    log(`${all.length} keys written`);
    const workers = await Promise.all(
      Array.from({ length: settings.workers }, (_, id) => startWorker({ from, to, id, counters, steady })),
    );
    let isOver = false;
    const moving = moveAndKill({ ...settings, from, to }, log).finally(() => {
      isOver = true;
    });
    const [{ killed, report }] = await Promise.all([moving, settings.meanwhile?.(() => isOver)]);
    const work = await Promise.all(workers.map(stopWorker));
    log('moved; checking');
    const problems = [
      ...work.flatMap(({ problems }) => problems),
      ...(isCluster
        ? await faultsThrough(next, all, settings.meanwhile === undefined ? 0 : 10_000)
        : [...(await faults(next, all)), ...(await misplaced(next, all))]),
      ...(await unlike(next, isCluster, counters, work)),
    ];
    const sum = (of: (work: Work) => number) => work.reduce((total, one) => total + of(one), 0);
    return {
      problems: problems.slice(0, 50),
      leaving: all.filter(({ key }) => old.addressOf(key) !== next.addressOf(key)).length,
      killed,
      report,
      reads: sum(({ reads }) => reads),
      writes: sum(({ writes }) => writes),
      minted: sum(({ minted }) => minted.length),
    };
  } finally {
    await Promise.all([old.close(), next.close()]);
  }
}

/** The config for a busy machine: a command that takes long is no error. */
function patient(config: ShardConfig): ShardConfig {
  return { ...config, options: { ...config.options, timeout: 60_000 } };
}

async function startWorker(application: Application): Promise<ChildProcess> {
  const child = fork(scriptOf('#application'), [JSON.stringify(application)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [],
  });
  await once(child, 'message');
  return child;
}

async function stopWorker(child: ChildProcess): Promise<Work> {
  const output = textOf(child);
  child.send('stop');
  return JSON.parse(await output) as Work;
}

async function textOf(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`a process ended with ${code}`);
  return Buffer.concat(chunks).toString();
}

async function moveAndKill(
  { from, to, kills, longest, rate }: LoadSettings,
  log: (line: string) => void,
): Promise<{ killed: number; report: ReshardReport }> {
  const run = (options: object) =>
    fork(scriptOf('#mover'), [JSON.stringify({ from, to, options })], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      execArgv: [],
    });
  let killed = 0;
  for (let i = 0; i < kills; i++) {
    const child = run(rate === undefined ? {} : { rate });
    const exited = once(child, 'exit');
    // Every fourth run is killed while it prepares, the others while they move keys.
    const moment = i % 4 === 0 ? 'started' : 'moving';
    child.on('message', (message) => {
      if (message === moment) setTimeout(() => child.kill('SIGKILL'), Math.random() * longest);
    });
    const [, signal] = await exited;
    if (signal === 'SIGKILL') killed++;
  }
  log(`killed ${killed} times`);
  return { killed, report: JSON.parse(await textOf(run({}))) as ReshardReport };
}

/** Keys that are on a wrong node, on two nodes, or lost. */
async function misplaced(next: ShardMap, all: readonly SampleKey[]): Promise<string[]> {
  const places = await everywhere(next);
  const lost = all.filter(({ key }) => !places.has(key)).map(({ key }) => `${key} is lost`);
  const wrong = [...places]
    .filter(([key]) => /^[0-9A-Za-z]{5,}(-|$)/.test(key))
    .filter(([key, nodes]) => nodes.length !== 1 || nodes[0] !== next.whereIs(key))
    .map(([key, nodes]) => `${key} is on ${nodes.join(' and ')}, not on ${next.whereIs(key)}`);
  const left = ['idsmith:reshard:in', 'idsmith:reshard:out'].filter((key) => places.has(key));
  return [...lost, ...wrong, ...left.map((key) => `${key} is left`)];
}

/** Values that differ from those that the application processes wrote last. */
async function unlike(
  next: ShardMap,
  isCluster: boolean,
  counters: readonly string[],
  work: readonly Work[],
): Promise<string[]> {
  const problems: string[] = [];
  const expect = (what: string, actual: unknown, expected: unknown) => {
    if (actual !== expected) problems.push(`${what} is ${actual}, not ${expected}`);
  };
  const nodes = isCluster ? [] : next.nodes;
  const clients = new Map(nodes.map(({ name, host, port }) => [name, new Redis(port, host)]));
  const clientOf = (key: string) => clients.get(next.whereIs(key)) ?? next.getClient(key);
  try {
    for (const [i, key] of counters.entries()) {
      const total = work.reduce((sum, { increments }) => sum + (increments[i] as number), 0);
      expect(key, Number(await clientOf(key).get(key)), total);
    }
    for (const { key, list, hash } of work.flatMap(({ things }) => things)) {
      expect(key, await clientOf(key).hget(key, 'f'), hash ?? null);
      expect(`${key}-list`, await clientOf(key).llen(`${key}-list`), list);
    }
    const minted = work.flatMap(({ minted }) => minted);
    if (new Set(minted).size !== minted.length) problems.push('a key was minted twice');
    for (const key of minted) expect(key, await clientOf(key).get(key), key);
  } finally {
    for (const client of clients.values()) client.disconnect();
  }
  return problems;
}
