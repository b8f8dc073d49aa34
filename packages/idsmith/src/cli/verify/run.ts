import type { Store } from '../../stores/store.js';
import { auditHistory } from './audit-history.js';
import { auditDifference, clockDifference } from './clocks.js';
import { type Conformance, conform } from './conformance.js';
import { evictionHints, readEvictions } from './evictions.js';
import type { Family } from './families.js';
import { Notebook, recorded } from './history.js';
import { probe } from './probes.js';
import { countIds, latencyOf, type Report, verdictOf } from './report.js';
import type { Finding } from './rules.js';
import { removeOldRuns, Site } from './site.js';
import { openTarget, type Target } from './target.js';
import { type Tormented, torment } from './torment.js';
import { wrapStore } from './wrap-store.js';

/** The ttl of leases, ms. Short, so that the node id of a killed process is soon free again. */
const TTL = 2000;
/** A lease waits for an answer for a third of its ttl. That must be many times longer than an answer takes. */
const TTL_PER_ANSWER = 30;
/** The most that clocks of processes differ, ms, besides the difference that was measured. */
const SKEW = 1000;
/** The date of a namespace may need this long to reach its store, ms, besides twice the skew and the longest ttl. */
const ON_THE_WAY = 1000;

/** Options of {@link verify}. */
export interface VerifyOptions {
  readonly families: readonly Family[];
  readonly processes: number;
  readonly minutes: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** @param share the part of this phase that is done, from 0 to 1 */
  onProgress(share: number, text: string): void;
}

/** Tries a store: how it answers, how it behaves, and what processes mint with it under faults. Leaves nothing behind. */
export async function verify(target: Target, name: string, options: VerifyOptions): Promise<Report> {
  const begin = Date.now();
  return withStores(target, async (stores) => {
    const notes = await removeOldRuns(stores[0]);
    const before = await readEvictions(target);
    const site = new Site(stores[0], options.minutes * 60_000);
    const { trial, left } = await tryAndRemove(stores, target, site, options);
    const after = await readEvictions(target);
    const { findings, tormented, conformance, notebook, difference } = trial;
    const { history = notebook.history, faults = {}, untried = [], processes = 0 } = tormented ?? {};
    if (tormented === undefined)
      notes.push('processes and faults were left out, because a rule was broken before');
    else if (!tormented.hasProxy) notes.push(NO_PROXY);
    return {
      ...verdictOf(findings),
      hints: evictionHints(before, after, findings.length > 0),
      store: name,
      schema: (await stores[0].schemaVersion?.()) ?? null,
      seed: options.seed,
      figures: {
        ...{ ids: countIds(history, options.families), faults, untried, processes },
        operations: notebook.calls.length + (tormented?.history.calls.length ?? 0),
        latency: latencyOf(quietCalls(notebook)),
        clockDifference: difference ?? null,
        cases: { passed: conformance?.passed ?? 0, failed: conformance?.failed ?? 0 },
        seconds: (Date.now() - begin) / 1000,
      },
      notes,
      left,
    };
  });
}

/** Opens two connections for `use`, and closes them. */
async function withStores<T>(
  target: Target,
  use: (stores: readonly [Store, Store]) => Promise<T>,
): Promise<T> {
  const store = await openTarget(target);
  try {
    const second = await openTarget(target);
    try {
      return await use([store, second]);
    } finally {
      await second.close().catch(() => undefined);
    }
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** Tries the store out, and removes the names of the run in any case. An error tells which of them are left. */
async function tryAndRemove(
  stores: readonly [Store, Store],
  target: Target,
  site: Site,
  options: VerifyOptions,
): Promise<{ trial: Trial; left: string[] }> {
  const remove = async () => {
    options.onProgress(1, 'removing the names of this run');
    return site.remove();
  };
  let trial: Trial;
  try {
    trial = await tryOut(stores, target, site, options);
  } catch (thrown) {
    const left = await remove();
    // A wait that Ctrl-C has ended throws an error of its own.
    const error = options.signal.aborted ? options.signal.reason : thrown;
    if (left.length > 0 && error instanceof Error)
      error.message = [error.message, `still in the store: ${left.join(', ')}`]
        .filter((text) => text !== '')
        .join('; ');
    throw error;
  }
  return { trial, left: await remove() };
}

const SUITES = 'the suites';

/** The calls of the two connections, one at a time. The suites ask many things at once. */
const quietCalls = ({ calls }: Notebook) => calls.filter(({ by }) => by !== SUITES);

const NO_PROXY =
  'no proxy could stand before the store (a file, TLS, or a module of your own), so requests were lost, late and repeated ' +
  'within the processes only';

interface Trial {
  readonly findings: readonly Finding[];
  readonly notebook: Notebook;
  readonly difference: number | undefined;
  readonly conformance?: Conformance;
  readonly tormented?: Tormented;
}

/** One step after the other, up to the first that breaks a rule. */
async function tryOut(
  stores: readonly [Store, Store],
  target: Target,
  site: Site,
  options: VerifyOptions,
): Promise<Trial> {
  const { signal, onProgress } = options;
  onProgress(0, 'two connections in turns');
  const [store] = stores;
  const difference = await clockDifference(store);
  const clocks = auditDifference(difference);
  if (clocks.length > 0) return { findings: clocks, notebook: new Notebook(), difference };
  signal.throwIfAborted();
  const { findings: early, notebook } = await probe(stores, site);
  if (early.length > 0) return { findings: early, notebook, difference };
  signal.throwIfAborted();
  const cases = recorded(onThisClock(site.noting, difference), notebook.takeDown(SUITES));
  const conformance = await conform(
    cases,
    site.base,
    (share) => onProgress(share, 'the conformance suites'),
    signal,
  );
  if (conformance.failed > 0) return { findings: conformance.findings, notebook, difference, conformance };
  const begin = Date.now();
  const tormented = await tormentOn(
    store,
    target,
    site,
    latencyOf(quietCalls(notebook)).p99,
    difference ?? 0,
    options,
  );
  const { calls, ...rest } = tormented.history;
  const last = new Notebook();
  await lookOnce(recorded(store, last.takeDown('the last look')), site);
  const findings = auditHistory(
    { ...rest, calls: [...calls, ...last.calls] },
    store,
    options.families,
    begin,
  );
  return { findings, notebook, difference, conformance, tormented };
}

/** The store with this machine's time where the two differ more than the suites allow. */
function onThisClock(store: Store, difference = 0): Store {
  if (Math.abs(difference) < SKEW) return store;
  return wrapStore(store, async (name, _args, call) =>
    name === 'now' ? ((await call()) as number) - difference : call(),
  );
}

/** The namespaces and the sequence of the processes. */
const namesOf = ({ base }: Site) => ({
  flakes: `${base}flakes`,
  locality: `${base}locality`,
  sequences: `${base}sequence`,
});

async function tormentOn(
  store: Store,
  target: Target,
  site: Site,
  p99: number,
  difference: number,
  options: VerifyOptions,
): Promise<Tormented> {
  const { families, processes, minutes, seed, signal, onProgress } = options;
  const names = namesOf(site);
  await site.note(names.flakes);
  await site.note(names.locality);
  // Beyond 2^53, where a rounded number would repeat.
  await store.defineSequence({ name: names.sequences, start: 2n ** 53n + 1n, blockSize: 5 });
  const maxTtl = store.durable === false ? (store.maxTtl ?? 60_000) : 60_000;
  const ttl = Math.min(maxTtl, Math.max(TTL, Math.ceil(TTL_PER_ANSWER * p99)));
  const maxSkew = SKEW + Math.abs(difference);
  return torment({
    ...{ target, families, names, processes, seed, signal, ttl, maxSkew },
    seconds: minutes * 60,
    foundingMs: store.durable === false ? maxTtl + ON_THE_WAY + 2 * maxSkew : 0,
    hasClock: store.now !== undefined && store.hostClock !== true,
    onProgress: (share, faults) => onProgress(share, `${processes} processes mint, ${faults} faults so far`),
  });
}

/** Reads everything once more when all processes have ended, so that the last change of each of them is compared, too. */
async function lookOnce(store: Store, site: Site): Promise<void> {
  const { flakes, locality, sequences } = namesOf(site);
  for (const namespace of [flakes, locality]) await store.listLeases(namespace);
  await store.describeSequence(sequences).catch(() => undefined);
}
