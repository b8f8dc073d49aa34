import { ClockError, LeasesExhaustedError, StoreError } from '../errors.js';
import { show } from '../options.js';
import { pauseUnlessAborted, unlessAborted } from '../support/abort.js';
import { backoff } from '../support/backoff.js';
import { type Claimed, claim, freeNode } from './claim.js';
import { longestTtl, rememberLimit, requireTtl } from './limit.js';
import { requireSameLayout } from './namespace-layout.js';
import { tellWait } from './node-wait.js';
import type { LeaseSettings } from './options.js';
import { type Page, pageOf } from './pages.js';
import type { LeaseRecord } from './port.js';
import {
  anyReady,
  type Candidate,
  candidates,
  datedBirth,
  isReady,
  isUndated,
  layoutOf,
  NAMESPACE_ID,
  newestFence,
  undatedBirth,
} from './protocol.js';
import { freshOwner, randomFraction, randomName } from './random.js';
import { list, read, storeTime, swap } from './store-calls.js';

/** The longest time that the date of a namespace may need to reach its store, ms. The store refuses dates that are too old. */
const ON_THE_WAY = 1000;

/** The most rounds in which a store refuses a node id that its own listing offers. Rivals explain a few such rounds. */
const MAX_REFUSALS = 12;
const BACKOFF = { unit: 5, longest: 1000 };
/** The part of the ttl for which a reading of the store's clock is used again by those who have just lost a race. */
const TIME_LIFE = 0.25;

/** A node id that was acquired. */
export interface Acquired extends Claimed {
  /** True when the namespace was empty: new, or lost by its store. */
  readonly wasEmpty: boolean;
  /** The layout that the namespace remembers. */
  readonly layout: string | undefined;
}

/** The records of a namespace or of a page of it, and the store's time. */
interface View {
  readonly records: LeaseRecord[];
  /** The node ids that were looked at: from `first` to `end` − 1. */
  readonly first: number;
  readonly end: number;
  readonly now: number;
  /** This clock at the moment when the time was read, ms. */
  readonly readAt: number;
}

/**
 * Takes a node id for a new owner, and waits for one if necessary. A wait in the background does not keep the process alive.
 *
 * The best node id comes first. Whoever loses it to somebody else knows of rivals, and from then on takes any node id that is
 * ready, so that many who start at once separate quickly.
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
  let hasRivals = false;
  let before: View | undefined;
  /** The pages seen in a row on which no node id was free. */
  let pages = 0;
  /** True when any record of the namespace was seen. */
  let isKnown = false;
  for (let refusals = 0; ; ) {
    signal?.throwIfAborted();
    const page = pageOf(settings, pages, hasRivals, randomFraction(settings));
    const view = await unlessAborted(
      look(settings, page, hasRivals || pages > 0 ? before : undefined),
      signal,
    );
    before = view;
    const { records, now, first, end } = view;
    isKnown ||= records.length > 0;
    // Only the whole namespace tells that it is empty, or how new its newest record is.
    if (page && (!isKnown || !isBelievable(settings, now, newestFence(records)))) {
      pages = Number.POSITIVE_INFINITY;
      continue;
    }
    requireBelievable(settings, now, newestFence(records));
    wasEmpty ||= !page && records.length === 0;
    const birth = records.find(({ id }) => id === NAMESPACE_ID);
    const layout = layoutOf(records);
    const preparation = preparing(settings, birth, layout, now);
    if (preparation) {
      if (!(await swap(settings, ...preparation))) await pauseAfter(settings, ++refusals, background, signal);
      continue;
    }
    const [best] = candidates(records, end, now, first);
    if (best && isReady(best, now)) {
      for (const candidate of attempts(settings, best, view, hasRivals)) {
        const node = await claim(settings, owner, candidate, { now, birth, layout }, hasRivals);
        if (node) {
          // If this fails, the node id is free when the lease expires.
          if (signal?.aborted) await freeNode(settings, node).catch(() => undefined);
          signal?.throwIfAborted();
          return { ...node, wasEmpty, layout };
        }
        hasRivals = true;
      }
      pages = 0;
      await pauseAfter(settings, ++refusals, background, signal);
    } else if (page) pages++;
    else {
      const wait = best === undefined ? Number.POSITIVE_INFINITY : best.readyAt - now;
      waited += wait;
      const waitFor = longestWait(settings);
      if (waited > waitFor) throw exhausted(settings, best, waitFor);
      tellWait(settings, birth, wait, now);
      await pauseUnlessAborted(settings.timer, wait, background, signal);
      before = undefined;
      pages = 0;
    }
  }
}

/**
 * Lists the records, then reads the time, so that the time is not earlier than anything in the records.
 *
 * Whoever has just lost a race lists again with the time at hand. A time that is too early does no harm to a claim: it only
 * takes node ids for held a little longer. It must not date a namespace.
 */
async function look(
  settings: LeaseSettings,
  page: Page | undefined,
  before: View | undefined,
): Promise<View> {
  const records = await (page ? read(settings, page) : list(settings));
  const scope = page ? { first: page.first, end: page.first + page.count } : { first: 0, end: settings.size };
  const birth = records.find(({ id }) => id === NAMESPACE_ID);
  // Before anything can fail: the namespace may be gone by the next try.
  rememberLimit(settings, birth);
  const readAt = settings.clock.now();
  const isDated = settings.store.durable !== false || (birth !== undefined && !isUndated(birth));
  const age = readAt - (before?.readAt ?? Number.NaN);
  if (before && isDated && age >= 0 && age <= TIME_LIFE * settings.ttl)
    return { ...before, ...scope, records };
  return { ...scope, records, now: await storeTime(settings), readAt };
}

/** The node ids to try with one view: the best one and then any, or any one alone if rivals are known. */
function* attempts(
  settings: LeaseSettings,
  best: Candidate,
  { records, now, first, end }: View,
  hasRivals: boolean,
): Iterable<Candidate> {
  if (!hasRivals) yield best;
  const other = anyReady(records, end, now, randomFraction(settings), first);
  if (other && (hasRivals || other.id !== best.id)) yield other;
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

/**
 * Checks a clock against the fences of the namespace, where the store has no clock of its own to compare.
 *
 * @throws ClockError when the clock is ahead of every fence by more than `maxIdle`
 */
export function requireBelievable(settings: LeaseSettings, now: number, newest: number): void {
  const { maxIdle } = settings;
  if (isBelievable(settings, now, newest)) return;
  throw new ClockError(
    `this clock says ${dateText(now)}, and nothing in the namespace is later than ${dateText(newest)}: set the clock right, ` +
      `or raise maxIdle (${maxIdle} ms) if nobody has used the namespace since then`,
  );
}

function isBelievable({ store, maxIdle }: LeaseSettings, now: number, newest: number): boolean {
  const isChecked = store.now !== undefined && store.hostClock !== true;
  return isChecked || !(now - newest > maxIdle) || newest === -Infinity;
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
