import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease, LeaseOptions, LeaseRecord, Store } from 'idsmith';
import { continueLease, longestTtlOf } from 'idsmith/internal/stores';
import { type LeasedFamily, TICK } from '../families.js';
import { wrapStore } from '../history/history.js';
import type { CopiedLease } from './task.js';

/** A lease of this process. */
interface Held {
  readonly family: LeasedFamily;
  readonly options: LeaseOptions;
  /** True while the window is the one that this process has from the process that it is a copy of: nobody knows what was minted in it. */
  isBorrowed: boolean;
}

/**
 * The leases of a process, so that the process can be copied with its memory, as virtual machines are: both have the same lease then. If
 * the platform tells both of it, each fences its lease. If not, the copy leaves the window to its original.
 */
export class LeaseCopies {
  readonly store: Store;
  readonly #held = new Map<Lease, Held>();
  /** The last record of each namespace that this process has written. */
  readonly #records = new Map<string, LeaseRecord>();
  readonly #signal: AbortSignal;
  #inheritance: CopiedLease | undefined;

  constructor(store: Store, signal: AbortSignal) {
    this.#signal = signal;
    this.store = wrapStore(store, async (name, [namespace, , next], call) => {
      const result = await call();
      const isWritten = (name === 'swapLease' || name === 'claimLease') && result === true;
      if (isWritten && (next as LeaseRecord).id >= 0)
        this.#records.set(namespace as string, next as LeaseRecord);
      return result;
    });
  }

  /** Notes a lease, unless it was inherited. */
  holds(lease: Lease, family: LeasedFamily, options: LeaseOptions): void {
    if (!this.#held.has(lease)) this.#held.set(lease, { family, options, isBorrowed: false });
  }

  hasMinted(lease: Lease): void {
    const held = this.#held.get(lease);
    if (held !== undefined) held.isBorrowed = false;
  }

  /** Forgets a lease. True if it may be released. */
  forget(lease: Lease): boolean {
    const isOwn = this.#held.get(lease)?.isBorrowed === false;
    this.#held.delete(lease);
    return isOwn;
  }

  /** A lease as a copy of this process would have it; `null` if there is none of which everything is known. */
  copy(isTold: boolean): CopiedLease | null {
    for (const [lease, { family, options, isBorrowed }] of this.#held) {
      const record = this.#records.get(options.namespace);
      if (lease.state !== 'active' || record?.fence !== lease.until || isBorrowed) continue;
      const { from } = lease;
      if (isTold) lease.fence();
      return { family, isTold, record, from, limit: longestTtlOf(this.store, options) };
    }
    return null;
  }

  /** Has this process go on with the lease of the one that it is a copy of. */
  inherit(copied: CopiedLease): void {
    this.#inheritance = copied;
  }

  /** The lease that this process has inherited, once; `undefined` if there is none. */
  async inherited(family: LeasedFamily, options: LeaseOptions): Promise<Lease | undefined> {
    if (this.#inheritance?.family !== family) return undefined;
    const { record, isTold, ...memory } = this.#inheritance;
    this.#inheritance = undefined;
    const lease = continueLease(this.store, options, { record, ...memory });
    this.#records.set(options.namespace, record);
    this.#held.set(lease, { family, options, isBorrowed: true });
    if (isTold) lease.fence();
    // The other process may use the window to its end, and a tick that began before the end.
    const now = () => options.clock?.now() as number;
    while (!isTold && now() < record.fence + TICK && !this.#signal.aborted) await sleep(10);
    return lease;
  }
}
