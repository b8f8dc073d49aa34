// Redis keys that resharding keeps on every node. They belong to no map and are never moved.

/** A hash: the resharding that the node takes part in, and its phase. */
export const STATE_KEY = 'idsmith:reshard';

/** A hash on the old owner: each key that a mover has taken, with the number of the latest TAKE. */
export const OUTGOING_KEY = 'idsmith:reshard:out';

/** A hash on the new owner: each key that a mover brings, with the number of the latest CLAIM and a digest of the copy. */
export const INCOMING_KEY = 'idsmith:reshard:in';

/** A key that checks make and delete in one script, in the slot of the state if the node is a Redis Cluster. */
export const PROBE_KEY = `{${STATE_KEY}}:probe`;

/** One of these keys in one slot of a Redis Cluster. The hash tag decides the slot. */
export function reservedKeyOf(key: string, tag: string): string {
  return `${key}:{${tag}}`;
}

/** Tells whether a Redis key is one of the reserved keys. */
export function isReservedKey(key: string): boolean {
  return /^idsmith:reshard(:in|:out)?(:\{\w+\})?$/.test(key);
}

/** The name of a Redis key: text if its bytes are UTF-8, as those of a map's keys always are; otherwise the bytes. */
export type RedisKey = string | Uint8Array;

/** The character that stands for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

/** The key with the name that a driver returned as bytes. */
export function redisKeyOf(bytes: Uint8Array): RedisKey {
  const text = Buffer.prototype.toString.call(bytes);
  return text.includes(REPLACEMENT) ? bytes : text;
}

/** The name as text, for messages and for comparing keys. */
export function redisKeyText(key: RedisKey): string {
  return typeof key === 'string' ? key : Buffer.from(key).toString('latin1');
}
