// The lease protocol, as functions of records. No clock, no store, no randomness: everything comes in as an argument.
//
// A holder may put timestamps from `from` on and before `until` into ids. The store remembers for each node id the fence:
// the highest `until` granted. A new holder's `from` is at least that fence, so windows of one node id never overlap and
// no two processes ever mint the same id. Clocks only decide how soon a node id can be used again.

import { type LeaseRecord, sameRecord } from './port.js';

/** The id of the record that a namespace in a forgetful store has of its own: its birth record. */
export const NAMESPACE_ID = -1;

/** The id of the record in whose label a namespace remembers the layout of its ids. Written once, never changed. */
const LAYOUT_ID = -2;

/** A fence this little ahead, ms, is not waited for: the window then begins at it. */
const SOON = 1000;

/** A node id that nobody holds. */
export interface Candidate {
  readonly id: number;
  /** What the store has of it, `undefined` if it was never used. */
  readonly record: LeaseRecord | undefined;
  /** Where a window of it may begin. */
  readonly readyAt: number;
}

/** Who takes a node id, and for how long. */
export interface Claim {
  readonly owner: string;
  readonly label: string;
  readonly ttl: number;
  readonly maxSkew: number;
}

/** Whether somebody holds the id, by the store's clock. */
function isHeld(record: LeaseRecord, now: number): boolean {
  return record.owner !== null && record.expiresAt > now;
}

/** The record by which a namespace remembers a layout. */
export function layoutRecord(layout: string): LeaseRecord {
  return { id: LAYOUT_ID, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: layout };
}

/** The layout that a namespace remembers, if any generator has named one yet. */
export function layoutOf(records: readonly LeaseRecord[]): string | undefined {
  return records.find(({ id }) => id === LAYOUT_ID)?.label;
}

/** The newest time that the node ids of a namespace tell of, −Infinity if they tell of none. */
export function newestFence(records: readonly LeaseRecord[]): number {
  return records.reduce((newest, { id, fence }) => (id >= 0 ? Math.max(newest, fence) : newest), -Infinity);
}

/** The fence of a birth record that has no date yet. */
const UNDATED = Number.MAX_SAFE_INTEGER;

/**
 * The namespace's own record for a store that can forget, to be put before anything is claimed.
 *
 * When the namespace is empty, the store may have just lost it, while holders from before go on minting. The last of
 * them ends at most `maxTtl` after the loss, so no window may begin earlier. When the loss was, nobody knows: only that it
 * was before this record was put. So the record is put without a date, and dated by a time read after it was seen there. Its
 * owner is a name that was never used, so that a date meant for another such record does not fit it.
 */
export function undatedBirth(owner: string): LeaseRecord {
  return { id: NAMESPACE_ID, owner, epoch: 0, fence: UNDATED, expiresAt: 0, label: 'namespace' };
}

export function isUndated(birth: LeaseRecord): boolean {
  return birth.fence === UNDATED;
}

/**
 * The birth record with its date. Twice the skew: the store's clocks before and after may differ in opposite ways.
 *
 * Its epoch is the longest ttl that the namespace allows. Clients may be configured with different limits; everybody who
 * sees the namespace keeps to this one, and waits for it when the namespace is founded again.
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

/** Whether a candidate can be claimed by now. */
export function isReady({ readyAt }: Candidate, now: number): boolean {
  return readyAt <= now + SOON;
}

/** How many never-used ids are looked at: enough for many who start at once, and few of a large range. */
const FRESH = 256;

/**
 * Ids of 0 … `size` − 1 that nobody holds, best first: those that can be claimed now, the ones used before in front,
 * lowest first; then those that must be waited for, soonest first. Empty only when all are held.
 */
export function candidates(records: readonly LeaseRecord[], size: number, now: number): Candidate[] {
  const known = new Set(records.map(({ id }) => id));
  const floor = records.find(({ id }) => id === NAMESPACE_ID)?.fence ?? 0;
  const free: Candidate[] = records
    .filter((record) => record.id >= 0 && record.id < size && !isHeld(record, now))
    .map((record) => ({ id: record.id, record, readyAt: Math.max(record.fence, floor) }));
  for (let id = 0, fresh = 0; id < size && fresh < FRESH; id++) {
    if (known.has(id)) continue;
    free.push({ id, record: undefined, readyAt: floor });
    fresh++;
  }
  const rank = (candidate: Candidate) => (!isReady(candidate, now) ? 2 : candidate.record ? 0 : 1);
  return free.sort((a, b) => rank(a) - rank(b) || (rank(a) === 2 ? a.readyAt - b.readyAt : 0) || a.id - b.id);
}

/** Where a claim's window begins: never below the fence, nor further back than a clock may be behind. */
export function windowStart({ readyAt }: Candidate, now: number, maxSkew: number): number {
  return Math.max(readyAt, now - maxSkew);
}

/** The record of a new holder. To be claimed only when the candidate is ready. */
export function claimed(
  { id, record, readyAt }: Candidate,
  now: number,
  { owner, label, ttl }: Claim,
): LeaseRecord {
  // The fence is never lowered by a claim, though the window be shorter than what is left to the old one.
  const until = Math.max(readyAt, now + ttl);
  return { id, owner, epoch: (record?.epoch ?? 0) + 1, fence: until, expiresAt: until, label };
}

/**
 * The holder's record for another `ttl`. A window never becomes shorter.
 *
 * @param owner a name that was never used, so that the holder recognises this very attempt in the store
 */
export function renewed(record: LeaseRecord, now: number, ttl: number, owner: string): LeaseRecord {
  const until = Math.max(record.fence, now + ttl);
  return { ...record, owner, fence: until, expiresAt: until };
}

/**
 * The record that its holder leaves behind: free, with the fence lowered to just above the last timestamp used. Never
 * below where its own window began, for before that others have minted.
 */
export function released(record: LeaseRecord, from: number, lastUsed: number): LeaseRecord {
  const fence = Math.min(record.fence, Math.max(from, lastUsed + 1));
  return { ...record, owner: null, fence, expiresAt: 0 };
}

/**
 * The meaning of the record that stands where a holder expected its own.
 *
 * - `'mine'`: one of the holder's attempts did land, and only the answer was lost.
 * - `'taken'`: the lease ran out by the store's clock, and the node id has a new holder, whose window begins at the
 *   fence. The old window may be used to its end.
 * - `'broken'`: nothing that the protocol does. The record is gone or older, or someone with the holder's own epoch has
 *   changed it: a copy of this process, or whoever stole its name. The window may be in use elsewhere and must not be used.
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
