import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Crew } from './crew.ts';
import { CLOCK_AHEAD, type Faults, processFaults, storeFaults } from './faults.ts';
import { between, type Random, seededRandom, shuffledForever } from './random.ts';
import { type ChaosReport, countEvents, examineIds } from './report.ts';
import { NODE_IDS } from './settings.ts';
import { type ChaosSetup, type ChaosStore, STORES, type StoreName } from './stores.ts';

export { showReport } from './report.ts';
export { STORES, type StoreName } from './stores.ts';

const START_MS = 120_000;
/** How long service may take to resume, ms: openStore's clients wait up to ten seconds for an answer that is lost. */
const RECOVERY_MS = 60_000;

/** How long, and with which faults. */
export interface ChaosOptions {
  /** The same faults come in the same order for the same seed. */
  readonly seed: number;
  /** How long to go on at least; every fault comes at least once anyway. */
  readonly seconds?: number;
  /** Called with a line for each fault. */
  readonly log?: (line: string) => void;
}

/** Torments processes that mint from a store, one of `STORES` unless `setup` is given, and checks all that they have handed out. */
export async function runChaos(
  name: string,
  options: ChaosOptions,
  setup: ChaosSetup = STORES[name as StoreName],
): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), `idsmith-chaos-${name}-`));
  const store = await setup.start(folder);
  const begin = Date.now();
  const crew = new Crew(folder, store, setup.maxSkew, seededRandom(options.seed));
  try {
    const outcome = await torment(crew, store, setup, options);
    const { problems, ...counts } = examineIds(crew, begin, setup.hasClock);
    const report = {
      ...{ store: name, seed: options.seed, ...counts, processes: crew.everyone.length },
      ...{ ...outcome, events: countEvents(crew), problems: [...crew.accidents, ...problems] },
    };
    if (report.problems.length > 0) return { ...report, folder };
    rmSync(folder, { recursive: true });
    return report;
  } finally {
    await crew.killAll();
    await store.stop();
  }
}

/** Everything from the first id to the end of the last process. */
async function torment(crew: Crew, store: ChaosStore, setup: ChaosSetup, options: ChaosOptions) {
  const faults: Record<string, number> = {};
  const once = setup.hasClock ? [] : [CLOCK_AHEAD];
  const track = (number: number, faultsOf: (random: Random) => Faults) => {
    // Each has random numbers of its own: which of them comes first is not in the seed.
    const random = seededRandom(options.seed + number);
    return faultByFault(faultsOf(random), random, faults, { ...options, once });
  };
  await crew.start(START_MS);
  if ((await crew.waitUntilMinting(NODE_IDS, START_MS)) === undefined)
    crew.accidents.push('minting never began');
  // Two at a time: while one of the processes is in trouble, the store may be, too.
  const tracks = await Promise.allSettled([
    track(1, (random) => processFaults(crew, random)),
    track(2, (random) => storeFaults(store, random)),
  ]);
  for (const outcome of tracks) if (outcome.status === 'rejected') throw outcome.reason;
  const recoveryMs = await crew.waitUntilMinting(setup.minting, RECOVERY_MS);
  if (recoveryMs === undefined)
    crew.accidents.push(`only ${crew.mintingCount} minted ${RECOVERY_MS} ms after the last fault`);
  await crew.endAll();
  return { faults, recoveryMs };
}

/** One after another with a moment between them, until each has been there and the time is over. */
async function faultByFault(
  faults: Faults,
  random: Random,
  counts: Record<string, number>,
  { seconds = 0, log = () => {}, once }: ChaosOptions & { once: readonly string[] },
): Promise<void> {
  const names = Object.keys(faults);
  const deadline = Date.now() + seconds * 1000;
  let number = 0;
  for (const name of shuffledForever(random, names)) {
    if (number++ >= names.length && Date.now() >= deadline) return;
    if (once.includes(name) && counts[name] !== undefined) continue;
    log(`${new Date().toISOString()} ${name}`);
    counts[name] = (counts[name] ?? 0) + 1;
    await faults[name]!();
    await sleep(between(random, 100, 400));
  }
}
