import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../chaos/random.ts';
import { faultByFault, faultsOfStore, workerFaults } from './faults.ts';
import { figuresLine } from './figures.ts';
import { IdArchive } from './id-archive.ts';
import { Site } from './site.ts';
import { SOAK_STORES, type SoakSetup } from './stores.ts';
import { type SoakReport, verdict } from './verdict.ts';
import type { Plant } from './worker-task.ts';

export { SOAK_STORES } from './stores.ts';

/** Between two looks at what processes have handed out, ms. */
const COLLECT_MS = 500;

/** How long, on what, and with which faults. */
export interface SoakOptions {
  /** An empty folder for ids and logs. The caller removes it. */
  readonly folder: string;
  readonly stores: readonly string[];
  readonly seconds: number;
  /** The same faults come in the same order for the same seed. */
  readonly seed: number;
  /** How many processes mint from each store. */
  readonly processes: number;
  /** The least and the longest time, ms, between two faults of a kind: of processes, or of a store. */
  readonly pause: readonly [from: number, to: number];
  /** How long families may take to begin, and to resume after the last fault, ms. */
  readonly patience: { readonly begin: number; readonly resume: number };
  /** Called with each line for people. */
  readonly print: (line: string) => void;
  /** Ends the run early, with a verdict. */
  readonly signal?: AbortSignal;
  /** Planted in the first process of each store. */
  readonly plant?: Plant;
}

/** Runs every family on these stores under load and faults, and checks all that was handed out. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { folder } = options;
  mkdirSync(join(folder, 'archive'));
  const archive = new IdArchive(join(folder, 'archive'));
  const sites: Site[] = [];
  try {
    for (const name of options.stores) sites.push(await startSite(name, options));
    const problems = await run(sites, archive, options);
    return verdict(sites, archive, problems, options.print);
  } finally {
    await Promise.all(sites.map((site) => site.stop()));
  }
}

async function startSite(name: string, options: SoakOptions): Promise<Site> {
  const setup = SOAK_STORES[name] as SoakSetup;
  const home = join(options.folder, name);
  mkdirSync(home);
  const random = seededRandom(options.seed + name.length);
  return new Site(home, name, setup, await setup.start(home), { random, ...options });
}

/** Everything from the first id to the end of the last process. Returns who did not begin or resume. */
async function run(sites: readonly Site[], archive: IdArchive, options: SoakOptions): Promise<string[]> {
  const problems: string[] = [];
  const allMint = async (what: 'begin' | 'resume') => {
    const waiting = sites.map(async (site) => {
      const silent = await site.silentAfter(archive, options.patience[what]);
      for (const { key, trouble } of silent)
        problems.push(`${site.name}: ${key} did not ${what} within ${options.patience[what]} ms: ${trouble}`);
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
    const watching = watch(sites, archive, options, isOver.signal);
    const tracks = sites.flatMap((site, i) => torment(site, archive, options.seed + 2 * i, options, isOver));
    for (const outcome of await Promise.allSettled([watching, ...tracks]))
      if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    clearTimeout(deadline);
  }
  await allMint('resume');
  await Promise.all(sites.map((site) => site.endAll(archive)));
  await archive.check();
  return problems;
}

/** Two faults at a time: while one of the processes is in trouble, the store may be, too. */
function torment(
  site: Site,
  archive: IdArchive,
  seed: number,
  { pause }: SoakOptions,
  isOver: AbortController,
): Promise<void>[] {
  const [one, two] = [seededRandom(seed), seededRandom(seed + 1)];
  const terms = { pause, signal: isOver.signal };
  const tracks = [
    faultByFault(site, workerFaults(site, archive, one), one, terms),
    faultByFault(site, faultsOfStore(site, two), two, terms),
  ];
  // Without its faults a run means nothing.
  for (const track of tracks) track.catch(() => isOver.abort());
  return tracks;
}

/** Collects ids all the time, and prints a line of figures a minute, until `signal`. */
async function watch(
  sites: readonly Site[],
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
    for (const site of sites) await site.collect(archive);
    if (performance.now() - begin < due) continue;
    await archive.check();
    // On a busy machine the line may come late.
    const elapsed = performance.now() - begin;
    print(figuresLine(elapsed, sites, archive, delay.max / 1e6));
    delay.reset();
    due = 60_000 * (1 + Math.floor(elapsed / 60_000));
  }
  delay.disable();
}
