import type { LeaseRecord, Store } from 'idsmith';

/** Reads one record of a namespace, without the others where the store can. */
export async function readLease(
  store: Store,
  namespace: string,
  id: number,
): Promise<LeaseRecord | undefined> {
  // A page always has the records of the namespace itself, whose ids are below 0.
  const records = store.readLeases
    ? await store.readLeases(namespace, Math.max(0, id), 1)
    : await store.listLeases(namespace);
  return records.find((each) => each.id === id);
}
