import { foundAgain } from '../lease/founding.js';
import { STORE_NAMESPACE } from '../lease/namespace.js';
import type { Store } from './store.js';

// What only a person can say of a store: that it is new, or that it was restored from a backup.

/**
 * Says that a store is new: makes its tables, and what a store that can forget needs to tell new names from lost ones. Without it such a store
 * defines no sequences, and its first lease waits. `idsmith init` does the same for a URL.
 *
 * @throws StoreError when the store fails
 *
 * @example
 * await initStore(redisStore(cluster)); // once, before the first program starts
 */
export async function initStore(store: Store): Promise<void> {
  // The first use makes the tables.
  await store.listSequences();
  await store.listLeases(STORE_NAMESPACE);
  if (store.moment) await foundAgain(store, STORE_NAMESPACE, 'new');
  await store.confirmNames?.();
}

/** What was done to a store that was restored. */
export interface Restored {
  /** Each namespace, and the time before which nobody may claim a node id in it, ms. */
  readonly namespaces: readonly { readonly namespace: string; readonly waitsUntil: number }[];
  /** Each sequence and its next number; `undefined` if it gives out nothing until `alter` has told its `next`. */
  readonly sequences: readonly { readonly name: string; readonly next: bigint | undefined }[];
}

/**
 * Says that a store was restored from a backup, or has lost data in another way. Leases wait until all windows have ended that the store may have
 * forgotten. Sequences move on beyond all numbers that may have been given out, or wait for a person. It can be broken off and done again.
 * `idsmith restored` does the same for a URL.
 *
 * @param options `ttl`: the longest ttl of any lease, ms, if it is more than 30,000
 * @throws StoreError when the store fails
 */
export async function markRestored(store: Store, { ttl = 0 }: { ttl?: number } = {}): Promise<Restored> {
  const again = (namespace: string) => foundAgain(store, namespace, 'restored', ttl);
  await again(STORE_NAMESPACE);
  await store.doubtNames?.();
  const namespaces: { namespace: string; waitsUntil: number }[] = [];
  for (const namespace of (await store.namespaces?.()) ?? [])
    namespaces.push({ namespace, waitsUntil: await again(namespace) });
  const sequences: { name: string; next: bigint | undefined }[] = [];
  for (const { name } of await store.listSequences())
    sequences.push({ name, next: (await store.restoreSequence?.(name))?.next });
  // A store that can forget defines nothing until the end of all this.
  if (store.doubtNames === undefined) await store.confirmNames?.();
  return { namespaces, sequences };
}
