import { hexToBytes } from '../encoding/hex.js';
import { InvalidOptionError } from '../errors.js';
import { isA, refuse, requireInteger } from '../options.js';

/** The number of bytes of a key. */
const KEY_BYTES = 32;

/** The keys by their ids, and the id of the key that encodes. */
export interface Keyring {
  readonly keys: ReadonlyMap<number, Uint8Array>;
  readonly current: number;
}

/**
 * Checks the options `keys` and `current`. Messages name key ids, and never show a key.
 *
 * @param maxId the highest key id that fits into a text
 * @throws InvalidOptionError naming the first key that is wrong
 */
export function requireKeys(
  keys: Readonly<Record<number, Uint8Array | string>>,
  current: number | undefined,
  maxId: number,
): Keyring {
  if (typeof keys !== 'object' || keys === null || isA('Uint8Array', keys))
    throw new InvalidOptionError('keys must be an object of keys by their ids, for example { 1: secret }');
  const ring = new Map<number, Uint8Array>();
  for (const [name, key] of Object.entries(keys)) {
    // Text that is no number may be a key in the place of its id, and is not shown.
    if (!/^(0|[1-9]\d{0,2})$/.test(name))
      throw new InvalidOptionError(
        `an id in keys must be a whole number from 0 to ${maxId}: give { 1: secret }`,
      );
    const id = requireInteger('an id in keys', Number(name), 0, maxId);
    ring.set(id, requireKey(name, key));
  }
  if (ring.size === 0) throw new InvalidOptionError('keys is empty: give one key at least, { 1: secret }');
  refuseTwins(ring);
  const chosen = current ?? Math.max(...ring.keys());
  if (!ring.has(chosen))
    refuse('current', `the id of one of the keys (${[...ring.keys()].join(', ')})`, current);
  return { keys: ring, current: chosen };
}

function requireKey(id: string, key: Uint8Array | string): Uint8Array {
  const bytes =
    typeof key === 'string' ? bytesOf(key.trim()) : isA('Uint8Array', key) && Uint8Array.from(key);
  if (!bytes || bytes.length !== KEY_BYTES)
    throw new InvalidOptionError(
      `key ${id} must be 32 bytes, as a Uint8Array, 64 hex digits or base64: make one with openssl rand -hex 32`,
    );
  if (bytes.every((byte) => byte === bytes[0]))
    throw new InvalidOptionError(
      `key ${id} is one byte repeated, which anybody can guess: make one with openssl rand -hex 32`,
    );
  return bytes;
}

/** The bytes of 64 hex digits, or of 43 characters of base64 in either alphabet, with or without padding. */
function bytesOf(text: string): Uint8Array | undefined {
  if (text.length === 2 * KEY_BYTES) return hexToBytes(text);
  const plain = text.replace(/=$/, '').replaceAll('-', '+').replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]{43}$/.test(plain)) return undefined;
  const binary = atob(plain);
  // The last character has two bits that are not part of the key. Other bits than zeroes are a typing error.
  if (btoa(binary) !== `${plain}=`) return undefined;
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function refuseTwins(ring: ReadonlyMap<number, Uint8Array>): void {
  const seen = new Map<string, number>();
  for (const [id, key] of ring) {
    const twin = seen.get(key.join());
    if (twin !== undefined)
      throw new InvalidOptionError(`keys ${twin} and ${id} are the same: a new key id needs a new key`);
    seen.set(key.join(), id);
  }
}
