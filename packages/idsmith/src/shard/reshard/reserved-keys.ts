// Redis keys that resharding keeps on every node. They belong to no map and are never moved.

/** A hash: the resharding that the node takes part in, and its phase. */
export const STATE_KEY = 'idsmith:reshard';

/** A hash on the old owner: each key that a mover has taken, with the number of the latest TAKE. */
export const OUTGOING_KEY = 'idsmith:reshard:out';

/** A hash on the new owner: each key that a mover brings, with the number of the latest CLAIM and a digest of the copy. */
export const INCOMING_KEY = 'idsmith:reshard:in';

/** One of these keys in one slot of a Redis Cluster. The hash tag decides the slot. */
export function reservedKeyOf(key: string, tag: string): string {
  return `${key}:{${tag}}`;
}

/** Tells whether a Redis key is one of the reserved keys. */
export function isReservedKey(key: string): boolean {
  return /^idsmith:reshard(:in|:out)?(:\{\w+\})?$/.test(key);
}
