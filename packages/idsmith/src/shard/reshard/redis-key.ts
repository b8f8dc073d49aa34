/** The name of a Redis key: text where its bytes are text, as those of a map's keys always are. */
export type Name = string | Uint8Array;

/** What bytes that are no UTF-8 become in text. */
const REPLACEMENT = '\uFFFD';

/** The name that a driver gave as bytes. */
export function nameOf(bytes: Uint8Array): Name {
  const text = Buffer.prototype.toString.call(bytes);
  return text.includes(REPLACEMENT) ? bytes : text;
}

/** The name for people, and for telling names apart. */
export function textOf(name: Name): string {
  return typeof name === 'string' ? name : Buffer.from(name).toString('latin1');
}
