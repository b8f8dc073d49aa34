import { wholeMs } from '../clock.js';
import { bytesToHex } from '../encoding/hex.js';
import { ClockError, InvalidOptionError, LeasesExhaustedError, StoreError } from '../errors.js';
import { refuse, show } from '../options.js';
import { backoff } from '../support/backoff.js';
import { withTimeout } from '../support/timeout.js';
import { pause } from '../support/timer.js';
import type { LeaseSettings } from './options.js';
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
  undatedBirth,
  windowStart,
} from './protocol.js';

/** How long the date of a namespace may take to its store, ms, if the store refuses dates that have become too old. */
const ON_THE_WAY = 1000;

/** Rounds without success in which a store refused what its own listing offered. Rivals explain a few, not so many. */
const MAX_REFUSALS = 12;
const BACKOFF = { unit: 5, longest: 1000 };

/** A node id that is now ours. */
export interface Acquired {
  readonly record: LeaseRecord;
  readonly from: number;
  /** Whether the namespace was empty: new, or lost by its store. */
  readonly wasEmpty: boolean;
  /** The layout that the namespace remembers. */
  readonly layout: string | undefined;
}

/**
 * Takes a node id for a new owner, waiting for one if it must; in the background that does not keep a process alive.
 *
 * @throws LeasesExhaustedError when all are held, or none can be used within `waitFor`
 * @throws InvalidOptionError when the namespace has another layout, or allows no ttl as long as this one
 * @throws ClockError when this clock and the store's differ too much
 * @throws StoreError when the store fails, or refuses again and again what it lists as free
 */
export async function acquire(settings: LeaseSettings, background: boolean): Promise<Acquired> {
  const owner = freshOwner(settings);
  let waited = 0;
  let wasEmpty = false;
  for (let refusals = 0; ; ) {
    const records = await list(settings);
    // The time is read after the records were, so that it is no earlier than anything that they tell of.
    const now = await storeTime(settings);
    requireBelievable(settings, now, newestFence(records));
    wasEmpty ||= records.length === 0;
    const birth = records.find(({ id }) => id === NAMESPACE_ID);
    const layout = layoutOf(records);
    const preparation = preparing(settings, birth, layout, now);
    if (preparation) {
      if (!(await swap(settings, ...preparation))) await pauseAfter(settings, ++refusals, background);
      continue;
    }
    const free = candidates(records, settings.size, now);
    const ready = free.filter((candidate) => isReady(candidate, now));
    const [soonest] = free;
    if (ready.length > 0) {
      const acquired = await claimOne(settings, ready, now, owner, birth);
      if (acquired) return { ...acquired, wasEmpty, layout };
      await pauseAfter(settings, ++refusals, background);
    } else {
      const wait = soonest === undefined ? Number.POSITIVE_INFINITY : soonest.readyAt - now;
      waited += wait;
      const waitFor = patience(settings);
      if (waited > waitFor) throw exhausted(settings, soonest, waitFor);
      await pause(settings.timer, wait, background);
    }
  }
}

/** The swap that must come before any claim: of the birth record of a forgetful store, or of the layout. */
function preparing(
  settings: LeaseSettings,
  birth: LeaseRecord | undefined,
  layout: string | undefined,
  now: number,
): [expected: LeaseRecord | undefined, next: LeaseRecord] | undefined {
  if (settings.store.durable === false) {
    if (birth === undefined) return [undefined, undatedBirth(randomName(settings))];
    const maxTtl = longestTtl(settings, birth);
    if (isUndated(birth)) return [birth, datedBirth(birth, now, maxTtl, settings.maxSkew, ON_THE_WAY)];
    requireTtl(settings, birth);
  }
  if (settings.layout === undefined) return undefined;
  if (layout === undefined) return [undefined, layoutRecord(settings.layout)];
  requireSameLayout(settings.namespace, layout, settings.layout);
  return undefined;
}

/** @throws InvalidOptionError when the namespace remembers another layout */
export function requireSameLayout(namespace: string, remembered: string, given: string): void {
  if (remembered === given) return;
  throw new InvalidOptionError(
    `namespace ${show(namespace)} has ids of the layout "${remembered}", not "${given}": two layouts in one namespace repeat ids; use the same layout, or another namespace whose ids never meet these`,
  );
}

/**
 * The longest ttl that any client of the namespace may have used, as far as this process knows. It is remembered for each
 * store and namespace: when the store loses the namespace, whoever founds it again waits for the longest.
 */
function longestTtl({ store, namespace, maxTtl }: LeaseSettings, birth: LeaseRecord): number {
  const known = limits.get(store) ?? new Map<string, number>();
  limits.set(store, known);
  const longest = Math.max(known.get(namespace) ?? 0, maxTtl, birth.epoch);
  known.set(namespace, longest);
  return longest;
}

const limits = new WeakMap<LeaseStore, Map<string, number>>();

/** @throws InvalidOptionError when others who see this namespace would not wait for windows of this length */
function requireTtl({ namespace, ttl, maxTtl }: LeaseSettings, { epoch }: LeaseRecord): void {
  // Zero: from a version that did not say. Its limit was its client's own.
  const limit = epoch === 0 ? maxTtl : epoch;
  if (ttl > limit)
    refuse('ttl', `${limit} at most in namespace ${show(namespace)}, whose founder set that limit`, ttl);
}

/** Waits longer each time, with jitter, so that rivals part. */
async function pauseAfter(settings: LeaseSettings, refusals: number, background: boolean): Promise<void> {
  if (refusals >= MAX_REFUSALS) {
    throw new StoreError(
      `the store refused ${refusals} times what it lists as free in namespace ${show(settings.namespace)}: its listing may be incomplete`,
    );
  }
  if (refusals === 1) return;
  const ms = backoff(refusals, BACKOFF, () => randomFraction(settings));
  await pause(settings.timer, ms, background);
}

/** Tries the candidates until one is ours: the best first, then any, so that many who start at once part quickly. */
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
    // A forgetful store may have lost the namespace since it was listed; then what was listed counts for nothing.
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
 * Holds a clock that nobody else can check to what the namespace tells of.
 *
 * @throws ClockError when it is ahead of every fence by more than `maxIdle`
 */
export function requireBelievable({ store, maxIdle }: LeaseSettings, now: number, newest: number): void {
  const isChecked = store.now !== undefined && store.hostClock !== true;
  if (isChecked || !(now - newest > maxIdle) || newest === -Infinity) return;
  throw new ClockError(
    `this clock says ${dateText(now)}, and nothing in the namespace is later than ${dateText(newest)}: set the clock right or, if the namespace was idle all the time, raise maxIdle (${maxIdle} ms)`,
  );
}

/**
 * The store's time, or this clock's where the store has none.
 *
 * @throws ClockError when the two differ by more than `maxSkew`, whatever the message's time on the way
 */
export async function storeTime(settings: LeaseSettings): Promise<number> {
  const { store, clock, maxSkew } = settings;
  const before = wholeMs(clock.now());
  if (store.now === undefined) return before;
  const now = wholeMs(await answer(settings, 'now', store.now()));
  const after = wholeMs(clock.now());
  const skew = now < before ? before - now : now > after ? now - after : 0;
  if (skew <= maxSkew) return now;
  throw new ClockError(
    `this clock and the store's differ by ${skew} ms, more than maxSkew allows (${maxSkew})`,
  );
}

export function list(settings: LeaseSettings): Promise<LeaseRecord[]> {
  return answer(settings, 'listLeases', settings.store.listLeases(settings.namespace));
}

export function swap(
  settings: LeaseSettings,
  expected: LeaseRecord | undefined,
  next: LeaseRecord,
): Promise<boolean> {
  return answer(settings, 'swapLease', settings.store.swapLease(settings.namespace, expected, next));
}

/** A third of the ttl is what a store gets: then two more tries fit before the window ends. */
function answer<T>({ timer, ttl }: LeaseSettings, call: string, promise: Promise<T>): Promise<T> {
  const ms = Math.ceil(ttl / 3);
  const error = () => new StoreError(`the store did not answer ${call} within ${ms} ms`);
  return withTimeout(promise, ms, { timer, background: true, error });
}

/** From 0 up to, not including, 1. */
export function randomFraction({ random }: LeaseSettings): number {
  const bytes = new Uint8Array(4);
  random.fill(bytes);
  return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
}

/** 128 random bits. */
function randomName({ random }: LeaseSettings): string {
  const bytes = new Uint8Array(16);
  random.fill(bytes);
  return bytesToHex(bytes);
}

/**
 * A name that no attempt ever had. Copies of a process (VM snapshots) go on with the same random state, so the time at
 * which the name is made is part of it, to the microsecond.
 */
export function freshOwner(settings: LeaseSettings): string {
  const { timeOrigin = 0 } = performance;
  const micros = Math.round((timeOrigin + performance.now()) * 1000);
  return `${randomName(settings)}-${micros.toString(36)}`;
}

function dateText(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}

/** The time to wait for a fence ahead, ms: `waitFor`, or else as long as a namespace that was just lost may take. */
function patience({ store, namespace, ttl, maxTtl, maxSkew, waitFor }: LeaseSettings): number {
  if (waitFor !== undefined) return waitFor;
  if (store.durable !== false) return ttl;
  return ttl + ON_THE_WAY + Math.max(maxTtl, limits.get(store)?.get(namespace) ?? 0) + 2 * maxSkew;
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
