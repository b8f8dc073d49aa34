import type { LeaseRecord, Store } from 'idsmith';
import { BIRTH_ID, UNDATED } from './swap-policy.js';

/**
 * The time for which a limit is remembered, ms. A store that has lost a namespace may get another limit, but nobody can use the new
 * namespace so soon.
 */
const LIFETIME = 1000;

/** The most namespaces to remember. */
const MAX_KNOWN = 1000;

/** The longest ttl of each namespace on a store that can forget: the first client of a namespace sets it in the birth record. */
export class NamespaceLimits {
  readonly #store: Store;
  readonly #known = new Map<string, { readonly ttl: number; readonly at: number }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The longest ttl, ms; `undefined` on a durable store and in a namespace without a limit. */
  async of(namespace: string): Promise<number | undefined> {
    if (this.#store.durable !== false) return undefined;
    const known = this.#known.get(namespace);
    if (known !== undefined && performance.now() - known.at < LIFETIME) return known.ttl;
    this.#known.delete(namespace);
    const at = performance.now();
    const birth = await readLease(this.#store, namespace, BIRTH_ID);
    // Zero is from a client that states no limit.
    if (birth === undefined || birth.fence === UNDATED || birth.epoch === 0) return undefined;
    this.#known.set(namespace, { ttl: birth.epoch, at });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest as string);
    return birth.epoch;
  }
}

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
