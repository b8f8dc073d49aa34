// The lease protocol, as functions of records. No clock, no store, no randomness: everything comes in as an argument.
//
// A holder may put timestamps from `from` on and before `until` into ids. The store remembers the fence of each node id: the
// highest `until` that was granted. A new holder's `from` is at least the fence. So windows of one node id never overlap, and no
// two processes ever mint the same id. Clocks decide only how soon a node id can be used again.

import { type LeaseRecord, sameRecord } from './port.js';

/** The id of the birth record, which a namespace has in a store that can forget. */
export const NAMESPACE_ID = -1;

/** The id of the layout record, whose label is the layout of the namespace. Written once, never changed. */
const LAYOUT_ID = -2;

/** A fence that is at most this far ahead, ms, needs no wait: the window begins at the fence. */
const SOON = 1000;

/** A node id that nobody holds. */
export interface Candidate {
  readonly id: number;
  /** The stored record; `undefined` if the node id was never used. */
  readonly record: LeaseRecord | undefined;
  /** The earliest beginning of a window, ms. */
  readonly readyAt: number;
}

/** The new holder of a node id, and the length of its window. */
export interface Claim {
  readonly owner: string;
  readonly label: string;
  readonly ttl: number;
  readonly maxSkew: number;
}

/** Tells whether a node id is held, by the store's clock. */
export function isHeld(record: LeaseRecord, now: number): boolean {
  return record.owner !== null && record.expiresAt > now;
}

/** The record of a namespace's layout. */
export function layoutRecord(layout: string): LeaseRecord {
  return { id: LAYOUT_ID, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: layout };
}

/** The layout that a namespace remembers, if any generator has named one yet. */
export function layoutOf(records: readonly LeaseRecord[]): string | undefined {
  return records.find(({ id }) => id === LAYOUT_ID)?.label;
}

/**
 * The text that a namespace remembers for a layout and a range of its node ids. An equal text means an equal range. A version that knows no
 * ranges takes the text for another layout, and so is refused, too.
 */
export function layoutWithin(
  layout: string,
  nodes: readonly [first: number, last: number] | undefined,
): string {
  return nodes === undefined ? layout : `${layout} nodes:${nodes[0]}-${nodes[1]}`;
}

/** The parts of a text from {@link layoutWithin}. */
export function splitLayout(text: string): {
  layout: string;
  nodes: [first: number, last: number] | undefined;
} {
  const [, layout = text, first, last] = /^(.*) nodes:(\d+)-(\d+)$/.exec(text) ?? [];
  return { layout, nodes: first === undefined ? undefined : [Number(first), Number(last)] };
}

/** The highest fence of the node ids of a namespace; −Infinity if there is none. */
export function newestFence(records: readonly LeaseRecord[]): number {
  return records.reduce((newest, { id, fence }) => (id >= 0 ? Math.max(newest, fence) : newest), -Infinity);
}

/** The fence of a birth record that has no date yet. */
const UNDATED = Number.MAX_SAFE_INTEGER;

/**
 * The birth record of a namespace in a store that can forget. It must be written before anything is claimed.
 *
 * A namespace that is empty may have just been lost by its store, while earlier holders go on minting. The last of them ends at
 * most `maxTtl` after the loss, so no window may begin earlier. The time of the loss is unknown, but it is before this record was
 * written. So the record is written without a date. It gets a date from a clock that is read after the record was seen in the
 * store. The owner is a name that was never used, so that a date for another birth record does not fit this one.
 */
export function undatedBirth(owner: string): LeaseRecord {
  return { id: NAMESPACE_ID, owner, epoch: 0, fence: UNDATED, expiresAt: 0, label: NO_LINEAGE };
}

/** Tells whether a birth record has no date yet. */
export function isUndated(birth: LeaseRecord): boolean {
  return birth.fence === UNDATED;
}

/**
 * The birth record with its date. The skew counts twice: the store's clocks before and after may differ in opposite directions.
 *
 * The epoch is the longest ttl that the namespace allows. Clients may be configured with different limits. All clients that see
 * the namespace keep to this limit, and wait for it when the namespace is founded again.
 */
export function datedBirth(
  birth: LeaseRecord,
  now: number,
  maxTtl: number,
  maxSkew: number,
  onTheWay = 0,
): LeaseRecord {
  return { ...birth, epoch: maxTtl, fence: now + maxTtl + onTheWay + 2 * maxSkew };
}

/** The label of a birth record without a lineage. */
const NO_LINEAGE = 'namespace';

/**
 * The birth record of a namespace in a store that tells its lineage. Such a store writes the record only while it has this lineage, so the date
 * may come from the answer that told the lineage: everything that is lost was lost before.
 *
 * @param floor no window may begin earlier, ms
 * @param longest the longest ttl of the namespace, ms
 */
export function foundedBirth(
  owner: string,
  lineage: string | undefined,
  longest: number,
  floor: number,
): LeaseRecord {
  return {
    id: NAMESPACE_ID,
    owner,
    epoch: longest,
    fence: floor,
    expiresAt: 0,
    label: lineage ?? NO_LINEAGE,
  };
}

/** The lineage that a namespace carries; `undefined` if it carries none. */
export function lineageOf(birth: LeaseRecord | undefined): string | undefined {
  return birth === undefined || birth.label === NO_LINEAGE ? undefined : birth.label;
}

/** Tells whether a candidate can be claimed now. */
export function isReady({ readyAt }: Candidate, now: number): boolean {
  return readyAt <= now + SOON;
}

/** The most never-used ids among the candidates: enough for many processes that start at once, and few of a large range. */
const FRESH = 256;

/**
 * The ids from `first` to `size` − 1 that nobody holds, best first. First come the ids that can be claimed now: those used before, then
 * never-used ones, lowest first. Then come the ids that need a wait, soonest first. Empty only when all are held.
 */
export function candidates(
  records: readonly LeaseRecord[],
  size: number,
  now: number,
  first = 0,
): Candidate[] {
  const known = new Set(records.map(({ id }) => id));
  const floor = records.find(({ id }) => id === NAMESPACE_ID)?.fence ?? 0;
  const free: Candidate[] = records
    .filter((record) => record.id >= first && record.id < size && !isHeld(record, now))
    .map((record) => ({ id: record.id, record, readyAt: Math.max(record.fence, floor) }));
  for (let id = first, fresh = 0; id < size && fresh < FRESH; id++) {
    if (known.has(id)) continue;
    free.push({ id, record: undefined, readyAt: floor });
    fresh++;
  }
  const rank = (candidate: Candidate) => (!isReady(candidate, now) ? 2 : candidate.record ? 0 : 1);
  return free.sort((a, b) => rank(a) - rank(b) || (rank(a) === 2 ? a.readyAt - b.readyAt : 0) || a.id - b.id);
}

/**
 * Any node id that can be claimed now, each as likely as the others: for those who know that others claim at the same time.
 *
 * @param fraction a random number from 0 up to, not including, 1
 * @returns `undefined` if there is none
 */
export function anyReady(
  records: readonly LeaseRecord[],
  size: number,
  now: number,
  fraction: number,
  first = 0,
): Candidate | undefined {
  const floor = records.find(({ id }) => id === NAMESPACE_ID)?.fence ?? 0;
  const known = records.filter(({ id }) => id >= first && id < size);
  const used = known
    .filter((record) => !isHeld(record, now))
    .map((record) => ({ id: record.id, record, readyAt: Math.max(record.fence, floor) }))
    .filter((candidate) => isReady(candidate, now));
  const fresh = { record: undefined, readyAt: floor };
  const freshCount = isReady({ id: 0, ...fresh }, now) ? size - first - known.length : 0;
  const pick = Math.floor(fraction * (used.length + freshCount));
  if (pick < used.length) return used[pick];
  return freshCount === 0 ? undefined : { id: unusedId(known, first + pick - used.length), ...fresh };
}

/** The node id without a record in the place of `id` when the ids of the known records are skipped. */
function unusedId(known: readonly LeaseRecord[], place: number): number {
  let id = place;
  for (const used of known.map((record) => record.id).sort((a, b) => a - b)) if (used <= id) id++;
  return id;
}

/** The beginning of a claim's window: never below the fence, and at most `maxSkew` before the store's time. */
export function windowStart({ readyAt }: Candidate, now: number, maxSkew: number): number {
  return Math.max(readyAt, now - maxSkew);
}

/** The record of a new holder. The candidate must be ready. */
export function claimed(
  { id, record, readyAt }: Candidate,
  now: number,
  { owner, label, ttl }: Claim,
): LeaseRecord {
  // A claim never lowers the fence, even if the new window would end before the old one.
  const until = Math.max(readyAt, now + ttl);
  return { id, owner, epoch: (record?.epoch ?? 0) + 1, fence: until, expiresAt: until, label };
}

/**
 * The holder's record for another `ttl`. A window never becomes shorter.
 *
 * @param owner a name that was never used, so that the holder recognises this attempt in the store
 */
export function renewed(record: LeaseRecord, now: number, ttl: number, owner: string): LeaseRecord {
  const until = Math.max(record.fence, now + ttl);
  return { ...record, owner, fence: until, expiresAt: until };
}

/**
 * The record after a release: free, with the fence lowered to just above the last timestamp used. The fence is never lowered below
 * the beginning of the holder's window, because others have minted before it.
 */
export function released(record: LeaseRecord, from: number, lastUsed: number): LeaseRecord {
  const fence = Math.min(record.fence, Math.max(from, lastUsed + 1));
  return { ...record, owner: null, fence, expiresAt: 0 };
}

/**
 * The meaning of the record that stands where a holder expected its own.
 *
 * - `'mine'`: one of the holder's attempts has succeeded, and only the answer was lost.
 * - `'taken'`: the lease expired by the store's clock, and the node id has a new holder, whose window begins at the fence. The
 *   old window may be used to its end.
 * - `'broken'`: the protocol cannot lead here. The record is missing or older, or someone with the holder's own epoch has changed
 *   it: a copy of this process, or somebody who uses its name. The window may be in use elsewhere and must not be used.
 */
export function verdict(
  current: LeaseRecord | undefined,
  mine: LeaseRecord,
  attempts: readonly LeaseRecord[],
): 'mine' | 'taken' | 'broken' {
  if (current === undefined) return 'broken';
  if ([mine, ...attempts].some((attempt) => sameRecord(attempt, current))) return 'mine';
  return current.epoch > mine.epoch && current.fence >= mine.fence ? 'taken' : 'broken';
}

/**
 * Tells whether a record shows that the store has lost writes that it had acknowledged to the holder of `mine`. A release lowers the fence, too,
 * but nobody holds the record of this epoch after it.
 */
export function isOlder(current: LeaseRecord | undefined, mine: LeaseRecord): boolean {
  if (current === undefined || current.epoch < mine.epoch) return true;
  const isReleased = current.epoch === mine.epoch && current.owner === null;
  return current.fence < mine.fence && !isReleased;
}

/**
 * Tells whether a node id has a new holder before the lease of `mine` can have run out. Then the store has lost renewals, and the new holder
 * has seen a record from before them. Clocks of two servers may differ by more than the skew. Nothing repeats then, and the namespace waits
 * in vain.
 *
 * @param now the store's time after the new holder was seen, ms
 */
export function isTakenEarly(mine: LeaseRecord, now: number, maxSkew: number): boolean {
  return mine.expiresAt - now > maxSkew + SOON;
}
