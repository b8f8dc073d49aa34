import type { Moment } from '../lineage/judge.js';

/** The record that a store keeps of one node id. */
export interface LeaseRecord {
  /** The node id, from 0 up. Records with ids below 0 belong to the namespace itself: −1 its birth, −2 its layout. */
  readonly id: number;
  /** The holder's name, which is new at each renewal; `null` when the node id is free. */
  readonly owner: string | null;
  /** Grows by one with each new holder: `Lease.term`. */
  readonly epoch: number;
  /** Milliseconds. No id with this timestamp or a later one has been minted. Only the holder may mint one. */
  readonly fence: number;
  /** Milliseconds on the store's clock; 0 when the node id is free. */
  readonly expiresAt: number;
  /** Host and process, for people. */
  readonly label: string;
}

/** The part of a store that leases use: list the records of a namespace, and swap one record atomically. */
export interface LeaseStore {
  /**
   * True when the store keeps every acknowledged write in spite of any crash. A store with `false` may come back empty, but never
   * with an older state, and needs a clock. Default `true`.
   *
   * A store that can forget should also refuse the namespace's own record (id −1), unless its fence is at least `maxTtl` ahead of
   * the store's clock, or `Number.MAX_SAFE_INTEGER`. Then not even a request from before the loss can date the record.
   */
  readonly durable?: boolean;
  /** True when the store refuses records that no lease writes, as a server does. Default `false`. */
  readonly guarded?: boolean;
  /** The longest ttl that the store allows, ms. Only a store that can forget needs a limit, with the default 30,000. */
  readonly maxTtl?: number;
  /**
   * The ttl for which every client of the store waits after a loss, ms, whatever the namespace notes. A longer ttl counts once its note is old
   * enough: see `docs/lineage.md`. Default 30,000, or `maxTtl` if that is less.
   */
  readonly usualTtl?: number;
  /** True when `now()` reads the clock of the calling machine, and so cannot reveal a wrong clock. Default `false`. */
  readonly hostClock?: boolean;
  /** The store's clock, ms, when it has one. */
  now?(): Promise<number>;
  /**
   * The store's clock and its lineage, in one answer: see `docs/lineage.md`. A store with this method also has `claimLease`. It writes a
   * namespace's own record (id −1) only while its lineage is the label of that record.
   */
  moment?(namespace: string): Promise<Moment>;
  /**
   * True if a namespace without records was never used, so that no window can have been forgotten. Asked only of a store that can forget and
   * tells its lineage. From then on the store knows the namespace.
   */
  isNewNamespace?(namespace: string): Promise<boolean>;
  /** Every record of the namespace, in any order. */
  listLeases(namespace: string): Promise<LeaseRecord[]>;
  /**
   * The records of the namespace itself (ids below 0), and those of the node ids `first` … `first` + `count` − 1, in any order. A
   * store with this method lets acquisitions look at a part of a large namespace. `count` is at most `pageSize`.
   */
  readLeases?(namespace: string, first: number, count: number): Promise<LeaseRecord[]>;
  /**
   * The names of all namespaces with records, sorted. For people and instruments, not for generators. A Redis lists namespaces
   * that this version of the library, or a later one, has written to.
   */
  namespaces?(): Promise<string[]>;
  /** The most node ids that `readLeases` reads at once. Default 64. */
  readonly pageSize?: number;
  /**
   * Replaces `expected` by `next` in one atomic step. If `expected` is `undefined`, puts `next` where no record is. Returns `false`
   * when the stored record differs from `expected` in owner, epoch, fence or expiry.
   */
  swapLease(namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord): Promise<boolean>;
  /**
   * Does the same as `swapLease`, but only while the namespace's own record (id −1) is `birth`, and the store's lineage, if it tells one, is the
   * label of `birth`, in the same atomic step. Without this method, an acquisition from a store that can forget reads that record again
   * after each claim.
   */
  claimLease?(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    birth: LeaseRecord,
  ): Promise<boolean>;
  /**
   * Removes all records of a namespace of `idsmith verify`, whose name begins with `idsmith-verify/`. Must refuse every other
   * namespace: without its records, ids could come twice. Without this method, such records stay in the store.
   */
  removeTrial?(namespace: string): Promise<void>;
}

/** The ids of the records of a namespace itself. */
export const OWN_IDS: readonly number[] = [-2, -1];

/** Tells whether two records are equal for {@link LeaseStore.swapLease}, which ignores the label. */
export function sameRecord(a: LeaseRecord | undefined, b: LeaseRecord | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.id === b.id &&
    a.owner === b.owner &&
    a.epoch === b.epoch &&
    a.fence === b.fence &&
    a.expiresAt === b.expiresAt
  );
}
