import { systemClock } from '../clock.js';
import { StoreError } from '../errors.js';
import { judgeLoss, judgeNamespace, type Moment } from '../lineage/judge.js';
import { show } from '../options.js';
import { systemRandom } from '../random.js';
import { randomName } from '../support/fresh-name.js';
import { STORE_NAMESPACE } from './namespace.js';
import {
  isNewNamespace,
  longestTtl,
  type NamespaceView,
  NO_NODES,
  read,
  storeMoment,
  swap,
} from './namespace-store.js';
import { DEFAULT_MAX_TTL, type LeaseSettings } from './options.js';
import type { LeaseRecord, LeaseStore } from './port.js';
import { datedBirth, foundedBirth, isUndated, lineageOf, NAMESPACE_ID, undatedBirth } from './protocol.js';

// The birth records of a store that tells its lineage, or that can forget: one for each namespace. A store that tells its lineage has one for
// itself, too, which tells new namespaces from lost ones: as long as it has the store's lineage, a namespace without a record is new.

/** The longest time that the date of a namespace may need to reach its store, ms. The store refuses dates that are too old. */
export const ON_THE_WAY = 1000;

/**
 * The birth record that must be in the place of the present one before anything is claimed; `undefined` if the present one is right, as it
 * nearly always is, and `'rivals'` if somebody else founds at the same time.
 */
export async function founding(
  settings: LeaseSettings,
  view: NamespaceView,
): Promise<LeaseRecord | 'rivals' | undefined> {
  const { store, random, maxSkew } = settings;
  const { birth, now, lineage } = view;
  if (lineage !== undefined) return foundingIn(settings, view, lineage);
  if (store.durable !== false) return undefined;
  if (birth === undefined) return undatedBirth(randomName(random));
  return isUndated(birth) ? datedBirth(birth, now, longestTtl(settings), maxSkew, ON_THE_WAY) : undefined;
}

/** {@link founding} in a store that tells its lineage, which is `lineage` in this view. */
async function foundingIn(
  settings: LeaseSettings,
  view: NamespaceView,
  lineage: string,
): Promise<LeaseRecord | 'rivals' | undefined> {
  const { store, ttl, maxSkew, random, lostWrite } = settings;
  const { birth, records, isWhole } = view;
  const longest = Math.max(longestTtl(settings), ttl, birth?.epoch ?? 0);
  const loss = judgeLoss(birth?.fence ?? 0, lostWrite, view, longest, maxSkew);
  const verdict = loss.kind === 'go-on' ? judgeNamespace(lineageOf(birth), view, longest, maxSkew) : loss;
  const found = (floor: number) => foundedBirth(randomName(random), lineage, longest, floor);
  if (verdict.kind === 'wait-until') {
    // The store itself carries the lineage from now on, too, so that it does not take a namespace for new that it loses when it goes back.
    await storeFloor(settings, view, longest);
    return found(verdict.time);
  }
  if (verdict.kind === 'record') {
    // On a store that keeps what it has acknowledged, records of an earlier version are trusted as that version trusted them.
    const isOld = records.some(({ id }) => id >= 0) || !isWhole;
    if (isOld && store.durable !== false) return found(birth?.fence ?? 0);
    const isNew = !isOld && (await isNewNamespace(settings));
    const floor = isNew ? await storeFloor(settings, view, longest) : view.now + longest + 2 * maxSkew;
    return floor === undefined ? 'rivals' : found(floor);
  }
  // Others must know for how long to wait after a loss.
  const isLonger = store.durable !== false && birth !== undefined && ttl > birth.epoch;
  return isLonger ? { ...birth, owner: randomName(random), epoch: ttl } : undefined;
}

/**
 * The time before which no window of a new namespace may begin, ms, by the store's own birth record; `undefined` if somebody else was quicker
 * to write that record. Whoever was founds the same namespace, most likely.
 *
 * @param view tells the lineage of the namespace. In a store that can forget, it may be another one: of another node of a Cluster.
 */
async function storeFloor(
  settings: LeaseSettings,
  view: Moment,
  longest: number,
): Promise<number | undefined> {
  const own = { ...settings, namespace: STORE_NAMESPACE };
  const birth = (await read(own, NO_NODES)).find(({ id }) => id === NAMESPACE_ID);
  const moment = settings.store.durable === false ? await storeMoment(own) : view;
  const verdict = judgeStore(settings, birth, moment, longest);
  // Whoever has written the record may have known only shorter windows.
  if (verdict === undefined) return birth?.fence ? birth.fence + Math.max(0, longest - birth.epoch) : 0;
  return (await swap(own, birth, verdict)) ? verdict.fence : undefined;
}

/** The most times that others may be quicker to write a birth record. */
const MAX_TRIES = 8;

/** The longest difference of clocks that a restored store allows for, ms. */
const USUAL_SKEW = 10_000;

/**
 * Writes the birth record of a namespace anew, at the word of a person. With {@link STORE_NAMESPACE}, the one of the store itself.
 *
 * @param state `'new'` if no window can have been forgotten. `'restored'` if windows may have been: then nobody claims before they have ended.
 * @param ttl the longest ttl of any lease, ms, as far as the person knows
 * @returns the time before which no window may begin, ms; 0 for any time
 */
export async function foundAgain(
  store: LeaseStore,
  namespace: string,
  state: 'new' | 'restored',
  ttl = 0,
): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const records = await (store.readLeases?.(namespace, 0, 0) ?? store.listLeases(namespace));
    const birth = records.find(({ id }) => id === NAMESPACE_ID);
    const { now, lineage } = (await store.moment?.(namespace)) ?? {
      now: (await store.now?.()) ?? systemClock.now(),
      lineage: undefined,
    };
    const longest = Math.max(ttl, birth?.epoch ?? 0, store.maxTtl ?? DEFAULT_MAX_TTL);
    const floor = state === 'new' ? 0 : Math.ceil(now) + longest + 2 * USUAL_SKEW;
    const next = foundedBirth(randomName(systemRandom), lineage, longest, floor);
    if (await store.swapLease(namespace, birth, next)) return floor;
  }
  throw new StoreError(`others keep founding namespace ${show(namespace)}: run the command again`, {
    reason: 'CONFLICT',
  });
}

/** The birth record that the store needs; `undefined` if the present one is right. */
function judgeStore(
  { store, random, maxSkew }: LeaseSettings,
  birth: LeaseRecord | undefined,
  moment: Moment,
  longest: number,
): LeaseRecord | undefined {
  const most = Math.max(longest, birth?.epoch ?? 0);
  const verdict = judgeNamespace(lineageOf(birth), moment, most, maxSkew);
  if (verdict.kind === 'go-on' || moment.lineage === undefined) return undefined;
  // A store that can forget may just have forgotten its own record.
  const isFresh = verdict.kind === 'record' && store.durable !== false;
  const floor = isFresh ? 0 : moment.now + most + 2 * maxSkew;
  return foundedBirth(randomName(random), moment.lineage, most, floor);
}
