import { ClockError, LeasesExhaustedError, StoreError } from '../errors.js';
import { refuse, show } from '../options.js';
import { pauseUnlessAborted, unlessAborted } from '../support/abort.js';
import { backoff } from '../support/backoff.js';
import { requireSameLayout } from './namespace-layout.js';
import { DEFAULT_MAX_TTL, type LeaseSettings } from './options.js';
import { type LeaseRecord, type LeaseStore, sameRecord } from './port.js';
import {
  type Candidate,
  candidates,
  claimed,
  datedBirth,
  isReady,
  isUndated,
  layoutOf,
  layoutRecord,
  NAMESPACE_ID,
  newestFence,
  released,
  undatedBirth,
  windowStart,
} from './protocol.js';
import { freshOwner, randomFraction, randomName } from './random.js';
import { list, storeTime, swap } from './store-calls.js';

/** The longest time that the date of a namespace may need to reach its store, ms. The store refuses dates that are too old. */
const ON_THE_WAY = 1000;

/** The most rounds in which a store refuses a node id that its own listing offers. Rivals explain a few such rounds. */
const MAX_REFUSALS = 12;
const BACKOFF = { unit: 5, longest: 1000 };

/** A node id that was acquired. */
export interface Acquired {
  readonly record: LeaseRecord;
  readonly from: number;
  /** True when the namespace was empty: new, or lost by its store. */
  readonly wasEmpty: boolean;
  /** The layout that the namespace remembers. */
  readonly layout: string | undefined;
}

/**
 * Takes a node id for a new owner, and waits for one if necessary. A wait in the background does not keep the process alive.
 *
 * An aborted signal ends every wait and every question to the store at once. Only the answer to a claim that was sent is waited
 * for, so that a node id that was claimed is freed again.
 *
 * @throws the reason of the signal when it is aborted; nothing is held then
 * @throws LeasesExhaustedError when all node ids are held, or none can be used within `waitFor`
 * @throws InvalidOptionError when the namespace has another layout, or does not allow so long a ttl
 * @throws ClockError when this clock and the store's clock differ too much
 * @throws StoreError when the store fails, or refuses again and again a node id that it lists as free
 */
export async function acquire(
  settings: LeaseSettings,
  background: boolean,
  signal?: AbortSignal,
): Promise<Acquired> {
  const owner = freshOwner(settings);
  let waited = 0;
  let wasEmpty = false;
  for (let refusals = 0; ; ) {
    signal?.throwIfAborted();
    const records = await unlessAborted(list(settings), signal);
    const birth = records.find(({ id }) => id === NAMESPACE_ID);
    // The first step: whatever follows may fail, and the namespace may be gone by the next try.
    rememberLimit(settings, birth);
    // The time is read after the records, so that the time is not earlier than anything in the records.
    const now = await unlessAborted(storeTime(settings), signal);
    requireBelievable(settings, now, newestFence(records));
    wasEmpty ||= records.length === 0;
    const layout = layoutOf(records);
    const preparation = preparing(settings, birth, layout, now);
    if (preparation) {
      if (!(await swap(settings, ...preparation))) await pauseAfter(settings, ++refusals, background, signal);
      continue;
    }
    const free = candidates(records, settings.size, now);
    const ready = free.filter((candidate) => isReady(candidate, now));
    const [soonest] = free;
    if (ready.length > 0) {
      const acquired = await claimOne(settings, ready, now, owner, birth);
      if (acquired) {
        await keepLayout(settings, acquired, layout);
        if (signal?.aborted) await freeNode(settings, acquired);
        signal?.throwIfAborted();
        return { ...acquired, wasEmpty, layout };
      }
      await pauseAfter(settings, ++refusals, background, signal);
    } else {
      const wait = soonest === undefined ? Number.POSITIVE_INFINITY : soonest.readyAt - now;
      waited += wait;
      const waitFor = longestWait(settings);
      if (waited > waitFor) throw exhausted(settings, soonest, waitFor);
      await pauseUnlessAborted(settings.timer, wait, background, signal);
    }
  }
}

/** The swap that must come before any claim in a store that can forget: of the birth record. */
function preparing(
  settings: LeaseSettings,
  birth: LeaseRecord | undefined,
  layout: string | undefined,
  now: number,
): [expected: LeaseRecord | undefined, next: LeaseRecord] | undefined {
  if (settings.store.durable === false) {
    if (birth === undefined) return [undefined, undatedBirth(randomName(settings))];
    if (isUndated(birth))
      return [birth, datedBirth(birth, now, longestTtl(settings), settings.maxSkew, ON_THE_WAY)];
    requireTtl(settings, birth);
  }
  if (settings.layout !== undefined && layout !== undefined)
    requireSameLayout(settings.namespace, layout, settings.layout);
  return undefined;
}

/**
 * Writes the layout into the namespace once a node id is held, so that an acquisition that fails leaves no layout behind.
 *
 * @throws InvalidOptionError when somebody else has written another layout meanwhile; the node id is free again then
 */
async function keepLayout(
  settings: LeaseSettings,
  { record, from }: Pick<Acquired, 'record' | 'from'>,
  remembered: string | undefined,
): Promise<void> {
  if (settings.layout === undefined || remembered !== undefined) return;
  if (await swap(settings, undefined, layoutRecord(settings.layout))) return;
  const current = layoutOf(await list(settings));
  try {
    if (current !== undefined) requireSameLayout(settings.namespace, current, settings.layout);
  } catch (error) {
    await freeNode(settings, { record, from });
    throw error;
  }
}

/** Frees a node id that was acquired and never used. */
export async function freeNode(
  settings: LeaseSettings,
  { record, from }: Pick<Acquired, 'record' | 'from'>,
): Promise<void> {
  await swap(settings, record, released(record, from, -1));
}

/** The longest ttl that each namespace of a store has ever allowed, as far as this process has seen. */
const limits = new WeakMap<LeaseStore, Map<string, number>>();

/** Remembers the limit in the birth record of a namespace, which the store may lose. */
function rememberLimit({ store, namespace }: LeaseSettings, birth: LeaseRecord | undefined): void {
  if (birth === undefined || isUndated(birth)) return;
  const known = limits.get(store) ?? new Map<string, number>();
  limits.set(store, known);
  // Zero is from a version that did not write its limit: then the default counts.
  known.set(namespace, Math.max(known.get(namespace) ?? 0, birth.epoch || DEFAULT_MAX_TTL));
}

/**
 * The longest ttl that any client of the namespace may have used, as far as this process knows. When the store loses the
 * namespace, whoever founds it again waits for the longest ttl.
 */
function longestTtl({ store, namespace, maxTtl }: LeaseSettings): number {
  return Math.max(limits.get(store)?.get(namespace) ?? 0, maxTtl);
}

/** @throws InvalidOptionError when others in this namespace would not wait for windows of this length */
function requireTtl({ namespace, ttl, maxTtl }: LeaseSettings, { epoch }: LeaseRecord): void {
  // Zero is from a version without a limit in the record. The limit was the client's own.
  const limit = epoch === 0 ? maxTtl : epoch;
  if (ttl > limit)
    refuse('ttl', `at most ${limit} in namespace ${show(namespace)}, whose first client set this limit`, ttl);
}

/** Waits before the next round, longer each time, with jitter, so that rivals separate. */
async function pauseAfter(
  settings: LeaseSettings,
  refusals: number,
  background: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (refusals >= MAX_REFUSALS) {
    throw new StoreError(
      `the store listed node ids as free in namespace ${show(settings.namespace)} and refused them ${refusals} times: ` +
        'its listing may be incomplete',
    );
  }
  if (refusals === 1) return;
  const ms = backoff(refusals, BACKOFF, () => randomFraction(settings));
  await pauseUnlessAborted(settings.timer, ms, background, signal);
}

/** Tries the candidates until one is acquired: the best first, then any, so that many who start at once separate quickly. */
async function claimOne(
  settings: LeaseSettings,
  ready: Candidate[],
  now: number,
  owner: string,
  birth: LeaseRecord | undefined,
): Promise<Pick<Acquired, 'record' | 'from'> | undefined> {
  const left = [...ready];
  for (let pick = 0; left.length > 0; pick = Math.floor(randomFraction(settings) * left.length)) {
    const [candidate] = left.splice(pick, 1) as [Candidate];
    const record = claimed(candidate, now, { ...settings, owner });
    if (!(await swap(settings, candidate.record, record))) continue;
    // A store that can forget may have lost the namespace since the listing. Then the listing does not count.
    if (
      birth &&
      !sameRecord(
        birth,
        (await list(settings)).find(({ id }) => id === NAMESPACE_ID),
      )
    )
      return undefined;
    return { record, from: windowStart(candidate, now, settings.maxSkew) };
  }
  return undefined;
}

/**
 * Checks a clock against the fences of the namespace, where the store has no clock of its own to compare.
 *
 * @throws ClockError when the clock is ahead of every fence by more than `maxIdle`
 */
export function requireBelievable({ store, maxIdle }: LeaseSettings, now: number, newest: number): void {
  const isChecked = store.now !== undefined && store.hostClock !== true;
  if (isChecked || !(now - newest > maxIdle) || newest === -Infinity) return;
  throw new ClockError(
    `this clock says ${dateText(now)}, and nothing in the namespace is later than ${dateText(newest)}: set the clock right, ` +
      `or raise maxIdle (${maxIdle} ms) if nobody has used the namespace since then`,
  );
}

function dateText(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}

/** The longest wait for a fence ahead, ms: `waitFor`, or the wait that a namespace needs after its store has lost it. */
function longestWait(settings: LeaseSettings): number {
  const { store, ttl, maxSkew, waitFor } = settings;
  if (waitFor !== undefined) return waitFor;
  if (store.durable !== false) return ttl;
  return ttl + ON_THE_WAY + longestTtl(settings) + 2 * maxSkew;
}

function exhausted(
  { namespace, size }: LeaseSettings,
  soonest: Candidate | undefined,
  waitFor: number,
): LeasesExhaustedError {
  const why = soonest
    ? `the first of ${size} can be used at ${dateText(soonest.readyAt)}, later than waitFor (${waitFor} ms) allows`
    : `all ${size} are held`;
  return new LeasesExhaustedError(`no node id available in namespace ${show(namespace)}: ${why}`);
}
