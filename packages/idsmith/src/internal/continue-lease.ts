import { Lease } from '../lease/lease.js';
import { longestTtl, rememberLimit } from '../lease/namespace-store.js';
import { type LeaseOptions, leaseSettings } from '../lease/options.js';
import type { LeaseRecord, LeaseStore } from '../lease/port.js';

/** A lease in the memory of a process. */
export interface LeaseMemory {
  readonly record: LeaseRecord;
  /** The beginning of the window. */
  readonly from: number;
  /** The longest ttl of the namespace, as far as the process has seen it. */
  readonly limit: number;
}

/** The lease of another process, as a process has it that is a copy of that one, memory included. */
export function continueLease(
  store: LeaseStore,
  options: LeaseOptions,
  { record, from, limit }: LeaseMemory,
): Lease {
  const settings = leaseSettings(store, options);
  // Else the copy of a process with a low limit founds a lost namespace too early, and with a limit that keeps the others out.
  rememberLimit(settings, { ...record, epoch: limit, fence: 0 });
  const unknown = { layout: undefined, lineage: undefined, readAt: Number.NEGATIVE_INFINITY };
  return new Lease(settings, { record, from, wasEmpty: false, ...unknown });
}

/** The longest ttl of a namespace, as far as this process has seen it. */
export function longestTtlOf(store: LeaseStore, options: LeaseOptions): number {
  return longestTtl(leaseSettings(store, options));
}
