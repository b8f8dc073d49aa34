/** What a store remembers of one node id. */
export interface LeaseRecord {
  /** The node id, from 0 up. Records with ids below 0 belong to the namespace itself: −1 its birth, −2 its layout. */
  readonly id: number;
  /** Who holds it, by a name that is new at each renewal; `null` when it is free. */
  readonly owner: string | null;
  /** Grows by one with each new holder: `Lease.term`. */
  readonly epoch: number;
  /** Milliseconds: no id with this timestamp or a later one has been minted, nor will be by anyone but the holder. */
  readonly fence: number;
  /** Milliseconds on the store's clock; 0 when it is free. */
  readonly expiresAt: number;
  /** Host and process, for people. */
  readonly label: string;
}

/** What leases need of a store: list the records of a namespace, and swap one of them atomically. */
export interface LeaseStore {
  /**
   * Whether it keeps what it has acknowledged, whatever crashes. One that says `false` may come back empty, but not
   * with an older state, and it needs a clock. Left out means `true`.
   *
   * One that can forget should also refuse the namespace's own record (id −1) unless its fence is at least `maxTtl` ahead
   * of the store's clock, or `Number.MAX_SAFE_INTEGER`: then not even a request from before the loss can date it.
   */
  readonly durable?: boolean;
  /** That it refuses records that no lease writes, as a server does to its clients. Left out means no. */
  readonly guarded?: boolean;
  /** The longest ttl it allows, ms. Only a store that can forget needs one; default 60,000 there. */
  readonly maxTtl?: number;
  /** That `now()` reads the clock of the machine that asks, so that a wrong one cannot be told by it. Left out means no. */
  readonly hostClock?: boolean;
  /** The store's clock, ms, when it has one. */
  now?(): Promise<number>;
  /** Every record of the namespace, in any order. */
  listLeases(namespace: string): Promise<LeaseRecord[]>;
  /**
   * Puts `next` in the place of `expected`, or where nothing is if that is `undefined`, in one atomic step. Returns
   * whether it did: `false` when the record is another one by now, in owner, epoch, fence or expiry.
   */
  swapLease(namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord): Promise<boolean>;
}

/** Whether two records are the same to {@link LeaseStore.swapLease}: all but the label. */
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
