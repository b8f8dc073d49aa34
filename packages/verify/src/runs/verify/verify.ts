import process from 'node:process';
import type { Store } from 'idsmith';
import { reasonOf, withTimeout } from 'idsmith/internal/stores';
import { auditHistory, countIds } from '../../audit/audit.js';
import type { Family } from '../../families.js';
import { AnswerLimit, CallLog, recorded, wrapStore } from '../../history/history.js';
import { type Finding, latencyOf, type Report, verdictOf } from '../../report/report.js';
import { openTarget, type StoreTarget } from '../../target.js';
import {
  auditDifference,
  type Conformance,
  clockDifference,
  conform,
  evictionHints,
  probe,
  readEvictions,
} from './behaviour.js';
import { type FaultRunOutcome, faultRun } from './fault-run.js';
import { removeOldRuns, TrialNames } from './trial-names.js';

/** The ttl of leases, ms. Short, so that the node id of a killed process is soon free again. */
const TTL = 2000;
/** A lease waits for an answer for a third of its ttl. That must be many times longer than an answer takes. */
const TTL_PER_ANSWER = 30;
/** The most that clocks of processes differ, ms, besides the difference that was measured. */
const SKEW = 1000;
/** The date of a namespace may need this long to reach its store, ms, besides twice the skew and the longest ttl. */
const ON_THE_WAY = 1000;

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
      const trialNames = new TrialNames(stores[0], options.minutes * 60_000);
      const trial: Trial = { step: '', findings: [], log: new CallLog() };
      const stop = await tryOut(trial, stores, target, trialNames, limit, options).catch((error) => {
        if (options.signal.aborted) return options.signal.reason;
        trial.findings.push({ rule: 'service', detail: `${trial.step}: ${reasonOf(error)}` });
      });
      options.onProgress(1, 'removing the names of this run');
      const left = await removeNames(trialNames, connections[0], target);
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
          latency: latencyOf(quietCalls(log)),
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

/** The calls of the two connections, one at a time. The suites ask many things at once. */
const quietCalls = ({ calls }: CallLog) => calls.filter(({ by }) => by !== SUITES);

const NO_PROXY =
  'no proxy could stand before the store (a file, TLS, a module of your own, or Redis servers that do not tell their addresses), so requests were ' +
  'lost, late and repeated within the processes only';

/** What has come of a run so far. */
interface Trial {
  /** The step that is going on, for messages. */
  step: string;
  readonly findings: Finding[];
  readonly log: CallLog;
  difference?: number | undefined;
  conformance?: Conformance;
  outcome?: FaultRunOutcome;
}

/** One step after the other, up to the first that breaks a rule. */
async function tryOut(
  trial: Trial,
  stores: readonly [Store, Store],
  target: StoreTarget,
  trialNames: TrialNames,
  limit: AnswerLimit,
  options: VerifyOptions,
): Promise<void> {
  const { findings, log } = trial;
  const { signal, onProgress } = options;
  const [store] = stores;
  const begin = (step: string) => {
    signal.throwIfAborted();
    trial.step = step;
    onProgress(0, step);
  };
  begin('the clock of the store');
  trial.difference = await clockDifference(store);
  findings.push(...auditDifference(trial.difference));
  if (findings.length > 0) return;
  begin('two connections in turns');
  findings.push(...(await probe(stores, trialNames, log)));
  if (findings.length > 0) return;
  begin('the conformance suites');
  const cases = recorded(onThisClock(trialNames.noting, trial.difference), log.by(SUITES));
  trial.conformance = await conform(
    cases,
    trialNames.base,
    (share) => onProgress(share, trial.step),
    () => signal.aborted || limit.unanswered.length > 0,
  );
  findings.push(...trial.conformance.findings);
  if (findings.length > 0) return;
  begin('processes and faults');
  const begun = Date.now();
  const { p99 } = latencyOf(quietCalls(log));
  trial.outcome = await mintUnderFaults(store, target, trialNames, p99, trial.difference ?? 0, options);
  begin('the last look');
  const { calls, ...rest } = trial.outcome.history;
  const last = new CallLog();
  await lookOnce(recorded(store, last.by('the last look')), trialNames);
  findings.push(
    ...auditHistory(
      { ...rest, calls: [...calls, ...last.calls] },
      {
        families: options.families,
        begin: begun,
        end: Date.now(),
        hasClock: store.now !== undefined && store.hostClock !== true,
        guarded: store.guarded === true,
      },
    ),
  );
}

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

async function mintUnderFaults(
  store: Store,
  target: StoreTarget,
  trialNames: TrialNames,
  p99: number,
  difference: number,
  options: VerifyOptions,
): Promise<FaultRunOutcome> {
  const { families, processes, minutes, seed, timeout, signal, onProgress } = options;
  const names = namesOf(trialNames);
  await trialNames.note(names.flakes);
  await trialNames.note(names.locality);
  // Beyond 2^53, where a rounded number would repeat.
  await store.defineSequence({
    name: trialNames.noteSequence(names.sequences),
    start: 2n ** 53n + 1n,
    blockSize: 5,
  });
  const maxTtl = store.durable === false ? (store.maxTtl ?? 60_000) : 60_000;
  const ttl = Math.min(maxTtl, Math.max(TTL, Math.ceil(TTL_PER_ANSWER * p99)));
  const maxSkew = SKEW + Math.abs(difference);
  return faultRun({
    target,
    families,
    names,
    processes,
    seed,
    signal,
    ttl,
    maxSkew,
    timeout,
    seconds: minutes * 60,
    foundingMs: store.durable === false ? maxTtl + ON_THE_WAY + 2 * maxSkew : 0,
    hasClock: store.now !== undefined && store.hostClock !== true,
    onProgress: (share, faults) => onProgress(share, `${processes} processes mint, ${faults} faults so far`),
  });
}

/** Reads everything once more when all processes have ended, so that the last change of each of them is compared, too. */
async function lookOnce(store: Store, trialNames: TrialNames): Promise<void> {
  const { flakes, locality, sequences } = namesOf(trialNames);
  for (const namespace of [flakes, locality]) await store.listLeases(namespace);
  await store.describeSequence(sequences).catch(() => undefined);
}
