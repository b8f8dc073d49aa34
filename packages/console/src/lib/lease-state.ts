import type { LeaseJson } from '../api/types.js';

/**
 * The state of a node id.
 *
 * | state | meaning |
 * |---|---|
 * | `free` | no holder; a lease can start at once |
 * | `held` | a process holds the node id |
 * | `expired` | the holder did not renew its lease |
 * | `fenced` | no holder, but the next window cannot start yet |
 * | `odd` | the record has values that make no sense |
 */
export type LeaseState = 'free' | 'held' | 'expired' | 'fenced' | 'odd';

/** The id of the record with the start of a namespace. No record with an id below 0 is a node id. */
const BIRTH_ID = -1;

/** A node id with its state. */
export interface NodeView {
  readonly id: number;
  readonly state: LeaseState;
  readonly record: LeaseJson | undefined;
  /** Seconds until the lease expires, or until the next window can start; 0 if neither applies. */
  readonly left: number;
}

/** The earliest start of windows in a namespace, Unix ms. Lies in the future when a store has lost its data. */
export function floorOf(records: readonly LeaseJson[]): number {
  return records.find(({ id }) => id === BIRTH_ID)?.fence ?? 0;
}

export function viewOf(id: number, record: LeaseJson | undefined, now: number, floor = 0): NodeView {
  if (record !== undefined && oddityOf(record) !== undefined) return { id, state: 'odd', record, left: 0 };
  const seconds = (until: number) => Math.max(0, (until - now) / 1000);
  if (record?.owner != null && record.expiresAt > now)
    return { id, state: 'held', record, left: seconds(record.expiresAt) };
  const readyAt = Math.max(record?.fence ?? 0, floor);
  if (readyAt > now) return { id, state: 'fenced', record, left: seconds(readyAt) };
  return { id, state: record?.owner == null ? 'free' : 'expired', record, left: 0 };
}

/** The `count` node ids that start with `first`. */
export function viewsOf(
  records: readonly LeaseJson[],
  now: number,
  first: number,
  count: number,
): NodeView[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const floor = floorOf(records);
  return Array.from({ length: count }, (_, i) => viewOf(first + i, byId.get(first + i), now, floor));
}

/** The number of node ids in each state, of the `size` node ids from `lowest` on, including those that were never used. */
export function countStates(
  records: readonly LeaseJson[],
  now: number,
  size: number,
  lowest = 0,
): Record<LeaseState, number> {
  const counts = { free: 0, held: 0, expired: 0, fenced: 0, odd: 0 };
  const known = records.filter(({ id }) => id >= lowest && id < lowest + size);
  const floor = floorOf(records);
  for (const record of known) counts[viewOf(record.id, record, now, floor).state]++;
  counts[floor > now ? 'fenced' : 'free'] += size - known.length;
  return counts;
}

const LOCALITY_SIZE = 65_536;

/** The number of node ids in each preset layout. */
const PRESETS: Readonly<Record<string, number>> = {
  jflake: 512,
  snowflake: 1024,
  instagram: 8192,
  discord: 1024,
  sonyflake: 65_536,
  safe53: 32,
  locality: LOCALITY_SIZE,
};

/** A guess at the number of node ids in a namespace. The store does not know the number. */
export function guessSize(
  namespace: string,
  layout: string | undefined,
  records: readonly LeaseJson[],
): number {
  const highest = Math.max(0, ...records.map(({ id }) => id));
  const preset = PRESETS[layout ?? ''] ?? PRESETS[namespace];
  if (preset !== undefined && highest < preset) return preset;
  return Math.max(16, 2 ** Math.ceil(Math.log2(highest + 1)));
}

/** The last time with a year of four digits, Unix ms. No sound record has a later one. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The reason why the record of a node id cannot be drawn; `undefined` for a sound record. Any program with a lease token can
 * write records, and one odd record must not hide the others.
 */
export function oddityOf({ epoch, fence, expiresAt, label }: LeaseJson): string | undefined {
  if (!isTime(fence)) return `its fence ${fence} is not a time before the year 10000`;
  if (!isTime(expiresAt)) return `its expiry ${expiresAt} is not a time before the year 10000`;
  if (!Number.isSafeInteger(epoch)) return `its number of holders ${epoch} is not a whole number`;
  if (typeof label !== 'string') return 'its label is not text';
  return undefined;
}

const isTime = (ms: number) => Number.isFinite(ms) && ms >= 0 && ms <= LAST_TIME;
