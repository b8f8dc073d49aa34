import { setTimeout as sleep } from 'node:timers/promises';
import type { LeaseRecord, Store } from 'idsmith';
import { count } from 'idsmith/internal/cli';
import { redisInfo, schemeOf, withTimeout } from 'idsmith/internal/stores';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { auditBlocks, auditLeases, auditReadings } from '../../audit/audit.js';
import { type CallLog, recorded } from '../../history/history.js';
import type { Finding, Rule } from '../../report/report.js';
import type { StoreTarget } from '../../target.js';
import type { TrialNames } from './trial-names.js';

// The behaviour of a store without any fault: its clock, then two connections in turns, and then the conformance suites.

/** The most that the clocks may differ, ms: the default `maxSkew` of leases. */
const MAX_DIFFERENCE = 10_000;
const READINGS = 5;

/** The store's clock minus the machine's clock, ms, from the quickest of a few readings; `undefined` if there is nothing to compare. */
export async function clockDifference(store: Store): Promise<number | undefined> {
  if (store.now === undefined || store.hostClock === true) return undefined;
  let best = { took: Number.POSITIVE_INFINITY, difference: 0 };
  for (let i = 0; i < READINGS; i++) {
    const before = Date.now();
    const now = await store.now();
    const after = Date.now();
    const took = after - before;
    if (took < best.took) best = { took, difference: Math.round(now - (before + after) / 2) };
  }
  return best.difference;
}

/** A finding if the clocks differ by more than leases allow. */
export function auditDifference(difference: number | undefined): Finding[] {
  if (difference === undefined || Math.abs(difference) <= MAX_DIFFERENCE) return [];
  const side = difference > 0 ? 'ahead of' : 'behind';
  const detail =
    `the store's clock is ${(Math.abs(difference) / 1000).toFixed(1)} s ${side} the clock of this machine, and leases ` +
    `allow ${MAX_DIFFERENCE / 1000} s: no process of this machine would get a node id`;
  return [{ rule: 'clock', detail }];
}

const ROUNDS = 40;
/** Replicas that are behind have caught up after this time, ms. */
const CATCH_UP = 500;
/** The first id that a rounded number cannot express. */
const FIRST = 2n ** 53n + 1n;

/** Writes with one connection, reads with the other, without any fault, and judges the answers. */
export async function probe(
  stores: readonly [Store, Store],
  names: TrialNames,
  log: CallLog,
): Promise<Finding[]> {
  const [one, other] = stores.map((store, i) => recorded(store, log.by(`connection ${i + 1}`))) as [
    Store,
    Store,
  ];
  const sequence = names.noteSequence(`${names.base}probe`);
  const inexact = await probeExactness(one, sequence);
  if (inexact.length > 0) return inexact;
  const guarded = one.guarded === true;
  if (!guarded) await probeRecords(one, other, names);
  for (let i = 0; i < ROUNDS; i++) await (i % 2 === 0 ? one : other).allocate(sequence, 1 + (i % 3));
  const calls = log.calls;
  return [
    ...auditLeases(calls, { quiet: true, guarded }),
    ...auditBlocks(calls, true),
    ...auditReadings(calls),
  ];
}

/** A sequence beyond 2^53, whose first id is known. */
async function probeExactness(store: Store, name: string): Promise<Finding[]> {
  await store.defineSequence({ name, start: FIRST, blockSize: 1 });
  const { start } = await store.describeSequence(name);
  const { first } = await store.allocate(name, 1);
  return [start, first]
    .filter((id) => id !== FIRST)
    .map((id) => ({
      rule: 'exact',
      detail: `a sequence was defined with the first id ${FIRST}, and the store gave ${id}`,
    }));
}

/** One record that both connections change in turns. A swap with an outdated record comes now and then, and must be refused. */
async function probeRecords(one: Store, other: Store, names: TrialNames): Promise<void> {
  const namespace = `${names.base}probe`;
  await names.note(namespace);
  let current: LeaseRecord | undefined;
  for (let i = 1; i <= ROUNDS; i++) {
    const [writer, reader] = i % 2 === 0 ? [one, other] : [other, one];
    const next = recordOf(i, `probe ${i}`);
    const isDone = await writer.swapLease(namespace, current, next);
    await writer.now?.();
    const [seen] = await reader.listLeases(namespace);
    if (i % 5 === 0) await reader.swapLease(namespace, current, recordOf(i, `outdated ${i}`));
    current = isDone ? next : seen;
  }
  await sleep(CATCH_UP);
  for (const store of [one, other]) await store.listLeases(namespace);
}

/** A record with the largest numbers that a lease can have. */
function recordOf(epoch: number, owner: string): LeaseRecord {
  const fence = Number.MAX_SAFE_INTEGER - 2 * ROUNDS + epoch;
  return { id: 0, owner, epoch, fence, expiresAt: fence, label: 'idsmith verify' };
}

/** The rule behind a case, by words of its name. The first that fits counts. */
const RULE_OF: readonly [RegExp, Rule][] = [
  [/digit|exact/, 'exact'],
  [/clock/, 'clock'],
  [
    /is not (put|replaced)|not there|at once|while many|many allocate|given out twice|not defined twice|taken back/,
    'compared',
  ],
  [/comes back|as expected|is listed|are listed|its own page|has the records/, 'kept'],
];

/** How the suites went. */
export interface Conformance {
  readonly passed: number;
  readonly failed: number;
  readonly findings: readonly Finding[];
}

/**
 * Runs the suites of `idsmith/testing`, a few cases at a time.
 *
 * @param base the beginning of all names
 * @param onCase called after each case with the share of cases that are done
 * @param isOver true if no more cases shall begin
 */
export async function conform(
  store: Store,
  base: string,
  onCase: (share: number) => void,
  isOver: () => boolean,
): Promise<Conformance> {
  let number = 0;
  const options = { name: () => `${base}case-${number++}` };
  const cases = [...leaseStoreCases(() => store, options), ...sequenceStoreCases(() => store, options)];
  const findings: Finding[] = [];
  let done = 0;
  const runSome = async (): Promise<void> => {
    for (let next = cases.shift(); next !== undefined && !isOver(); next = cases.shift()) {
      const { name } = next;
      await next.run().catch((error: unknown) => void findings.push(findingOf(name, error)));
      done++;
      onCase(done / (done + cases.length));
    }
  };
  await Promise.all(Array.from({ length: 4 }, runSome));
  return { passed: done - findings.length, failed: findings.length, findings };
}

function findingOf(name: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  // A store that fails has shown nothing of its behaviour.
  const isFailure = (error as { code?: unknown })?.code === 'STORE' || message.includes('"code":"STORE"');
  const [, rule] = RULE_OF.find(([words]) => words.test(name)) ?? [undefined, 'behaviour' as const];
  return { rule: isFailure ? 'service' : rule, detail: `"${name}": ${message}` };
}

// A Redis that removes keys breaks whatever rule the next process happens to meet: a record is gone, or, if another process was
// quicker, a node id is held twice. The rule does not tell the reason. The counters of the server do.

/** How a Redis removes keys by itself. */
export interface Evictions {
  /** `noeviction`, or another policy, with which a server that is full removes keys. */
  readonly policy: string;
  /** The number of keys that were evicted since the server started. */
  readonly evicted: number;
  /** The number of keys that expired since the server started. */
  readonly expired: number;
}

/** Reads the counters of a Redis; `undefined` on another store, and where the user may not read them. */
export async function readEvictions(target: StoreTarget): Promise<Evictions | undefined> {
  if (!('url' in target) || !/^rediss?$/.test(schemeOf(target.url))) return undefined;
  try {
    const fields = await withTimeout(redisInfo(target.url), 10_000);
    const [policy, evicted, expired] = ['maxmemory_policy', 'evicted_keys', 'expired_keys'].map((name) =>
      fields.get(name),
    );
    if (policy === undefined || evicted === undefined || expired === undefined) return undefined;
    return { policy, evicted: Number(evicted), expired: Number(expired) };
  } catch {
    // The run itself tells of a server that cannot be reached.
    return undefined;
  }
}

/** What an operator should change, from the counters before and after a run. */
export function evictionHints(
  before: Evictions | undefined,
  after: Evictions | undefined,
  isBroken: boolean,
): string[] {
  if (before === undefined || after === undefined) return [];
  const evicted = growth(before.evicted, after.evicted);
  const expired = growth(before.expired, after.expired);
  const policy = [after.policy, before.policy].find((name) => name !== 'noeviction');
  const hints: string[] = [];
  if (evicted > 0)
    hints.push(`keys were evicted: set maxmemory-policy noeviction (${count(evicted)} during the run)`);
  else if (policy !== undefined)
    hints.push(`keys can be evicted: set maxmemory-policy noeviction (it is ${policy})`);
  // Keys of idsmith never expire. Keys of others may, so this alone says nothing.
  if (isBroken && expired > 0)
    hints.push(
      `keys expired: if any begins with idsmith:, find who sets an expiry (${count(expired)} during the run)`,
    );
  return hints;
}

/** The growth of a counter, which a restart of the server sets to 0. */
const growth = (before: number, after: number) => (after < before ? after : after - before);
