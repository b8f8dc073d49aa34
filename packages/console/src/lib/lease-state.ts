import type { LeaseJson } from '../api/types.js';

/** Of a node id: nobody holds it, somebody does, somebody has let it expire, or its next window cannot begin yet. */
export type LeaseState = 'free' | 'held' | 'expired' | 'fenced';

/** The id of the record that says when a namespace begins. Others below 0 are no node ids either. */
const BIRTH_ID = -1;

/** A node id as it is shown. */
export interface NodeView {
  readonly id: number;
  readonly state: LeaseState;
  readonly record: LeaseJson | undefined;
  /** Seconds until the holder's lease expires, or until a window may begin; 0 if there is nothing to wait for. */
  readonly left: number;
}

/** Where the windows of a namespace may begin at the earliest, which matters for a store that has lost it. */
export function floorOf(records: readonly LeaseJson[]): number {
  return records.find(({ id }) => id === BIRTH_ID)?.fence ?? 0;
}

export function viewOf(id: number, record: LeaseJson | undefined, now: number, floor = 0): NodeView {
  const seconds = (until: number) => Math.max(0, (until - now) / 1000);
  if (record?.owner != null && record.expiresAt > now)
    return { id, state: 'held', record, left: seconds(record.expiresAt) };
  const readyAt = Math.max(record?.fence ?? 0, floor);
  if (readyAt > now) return { id, state: 'fenced', record, left: seconds(readyAt) };
  return { id, state: record?.owner == null ? 'free' : 'expired', record, left: 0 };
}

/** Node ids from `first` on, `count` of them. */
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

/** How many node ids of `size` are in each state; most of them may never have been used. */
export function countStates(
  records: readonly LeaseJson[],
  now: number,
  size: number,
): Record<LeaseState, number> {
  const counts = { free: 0, held: 0, expired: 0, fenced: 0 };
  const known = records.filter(({ id }) => id >= 0 && id < size);
  const floor = floorOf(records);
  for (const record of known) counts[viewOf(record.id, record, now, floor).state]++;
  counts[floor > now ? 'fenced' : 'free'] += size - known.length;
  return counts;
}

const LOCALITY_SIZE = 65_536;

/** How many node ids the presets of flakes have. */
const PRESETS: Readonly<Record<string, number>> = {
  jflake: 512,
  snowflake: 1024,
  instagram: 8192,
  discord: 1024,
  sonyflake: 65_536,
  safe53: 32,
  locality: LOCALITY_SIZE,
};

/** How many node ids a namespace has, as far as one can tell: the store does not know. */
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
