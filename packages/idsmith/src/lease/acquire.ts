import { wholeMs } from '../clock.js';
import { bytesToHex } from '../encoding/hex.js';
import { ClockError, LeasesExhaustedError } from '../errors.js';
import { show } from '../options.js';
import type { LeaseSettings } from './options.js';
import { type LeaseRecord, sameRecord } from './port.js';
import {
  type Candidate,
  candidates,
  claimed,
  datedBirth,
  isReady,
  isUndated,
  NAMESPACE_ID,
  undatedBirth,
  windowStart,
} from './protocol.js';
import { pause, within } from './timer.js';

/** How long the date of a namespace may take to its store, ms, if the store refuses dates that have become too old. */
const ON_THE_WAY = 1000;

/** A node id that is now ours. */
export interface Acquired {
  readonly record: LeaseRecord;
  readonly from: number;
  /** Whether the namespace was empty: new, or lost by its store. */
  readonly wasEmpty: boolean;
}

/**
 * Takes a node id for a new owner, waiting for one if it must; in the background that does not keep a process alive.
 *
 * @throws LeasesExhaustedError when all are held, or none can be used within `waitFor`
 * @throws ClockError when this clock and the store's differ too much
 * @throws StoreError when the store fails
 */
export async function acquire(settings: LeaseSettings, background: boolean): Promise<Acquired> {
  const owner = randomName(settings);
  let waited = 0;
  let wasEmpty = false;
  for (;;) {
    const records = await list(settings);
    // The time is read after the records were, so that it is no earlier than anything that they tell of.
    const now = await storeTime(settings);
    wasEmpty ||= records.length === 0;
    const birth = records.find(({ id }) => id === NAMESPACE_ID);
    if (settings.store.durable === false && (birth === undefined || isUndated(birth))) {
      const next = birth
        ? datedBirth(birth, now, settings.maxTtl + ON_THE_WAY, settings.maxSkew)
        : undatedBirth(randomName(settings));
      await swap(settings, birth, next);
      continue;
    }
    const free = candidates(records, settings.size, now);
    const ready = free.filter((candidate) => isReady(candidate, now));
    const [soonest] = free;
    if (ready.length > 0) {
      const acquired = await claimOne(settings, ready, now, owner, birth);
      if (acquired) return { ...acquired, wasEmpty };
    } else {
      const wait = soonest === undefined ? Number.POSITIVE_INFINITY : soonest.readyAt - now;
      waited += wait;
      if (waited > settings.waitFor) throw exhausted(settings, soonest);
      await pause(settings.timer, wait, background);
    }
  }
}

/** Tries the candidates until one is ours: the best first, then any, so that many who start at once part quickly. */
async function claimOne(
  settings: LeaseSettings,
  ready: Candidate[],
  now: number,
  owner: string,
  birth: LeaseRecord | undefined,
): Promise<Omit<Acquired, 'wasEmpty'> | undefined> {
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
  return within(timer, Math.ceil(ttl / 3), call, promise);
}

/** From 0 up to, not including, 1. */
export function randomFraction({ random }: LeaseSettings): number {
  const bytes = new Uint8Array(4);
  random.fill(bytes);
  return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
}

/** 128 random bits: no two owners are ever called the same. */
function randomName({ random }: LeaseSettings): string {
  const bytes = new Uint8Array(16);
  random.fill(bytes);
  return bytesToHex(bytes);
}

function exhausted(
  { namespace, size, waitFor }: LeaseSettings,
  soonest: Candidate | undefined,
): LeasesExhaustedError {
  const why = soonest
    ? `the first of ${size} can be used at ${new Date(soonest.readyAt).toISOString()}, later than waitFor (${waitFor} ms) allows`
    : `all ${size} are held`;
  return new LeasesExhaustedError(`no node id of namespace ${show(namespace)} is to be had: ${why}`);
}
