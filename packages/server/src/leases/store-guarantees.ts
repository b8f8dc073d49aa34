import type { Store } from 'idsmith';

/** The longest ttl on a store that can forget and states no `maxTtl`, ms. */
const DEFAULT_MAX_TTL = 30_000;

/** The guarantees of a store that remote clients must know to use it as safely as local ones. */
export interface StoreGuarantees {
  /** True if the store keeps everything that it has acknowledged. */
  readonly durable: boolean;
  /** The longest ttl of a lease, ms, on a store that can forget; `null` on a durable store. */
  readonly maxTtl: number | null;
}

export function guaranteesOf(store: Store): StoreGuarantees {
  const durable = store.durable !== false;
  return { durable, maxTtl: durable ? null : (store.maxTtl ?? DEFAULT_MAX_TTL) };
}

/** The time of the store's clock, or of this machine's if the store has no clock. */
export async function storeTime(store: Store): Promise<number> {
  return (await store.now?.()) ?? Date.now();
}
