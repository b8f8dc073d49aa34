import type { LeaseRecord } from './port.js';

/** The part of a lease that tells its record in a store. */
interface HeldLease {
  readonly namespace: string;
  readonly id: number;
  readonly term: number;
  readonly until: number;
}

const LEASES = Symbol.for('idsmith.leases');

/** The leases of this process that were not released. In the realm, because hot reload evaluates this module again. */
function leases(): Set<WeakRef<HeldLease>> {
  const realm = globalThis as { [LEASES]?: Set<WeakRef<HeldLease>> };
  realm[LEASES] ??= new Set();
  return realm[LEASES];
}

/** Counts a lease of this process until the function that comes back is called. */
export function countLease(lease: HeldLease): () => void {
  const ref = new WeakRef(lease);
  leases().add(ref);
  return () => leases().delete(ref);
}

/** The number of these records that leases of this process hold. */
export function heldHere(namespace: string, records: readonly LeaseRecord[]): number {
  const own = new Set<string>();
  for (const ref of leases()) {
    const lease = ref.deref();
    if (lease === undefined) leases().delete(ref);
    else if (lease.namespace === namespace) own.add(`${lease.id} ${lease.term} ${lease.until}`);
  }
  return records.filter(({ id, epoch, fence }) => own.has(`${id} ${epoch} ${fence}`)).length;
}
