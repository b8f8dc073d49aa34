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
