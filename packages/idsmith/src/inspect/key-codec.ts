import { base62Digit } from '../encoding/base62.js';
import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';

/** The latest time a `Date` can hold, ms. */
export const MAX_DATE = 8.64e15;

/**
 * The parts of a key. `1jyVFw3401-tags` has the parts
 *
 * | `1jyVFw` | `34` | `01` | `tags` |
 * |---|---|---|---|
 * | ms | variant | type | suffix |
 */
export interface KeyParts {
  /** Milliseconds since the epoch of the map. */
  readonly ms: number;
  readonly variant: number;
  readonly type: number;
  /** The text after the first hyphen; empty if there is no hyphen. */
  readonly suffix: string;
}

/**
 * Reads the parts of a key.
 *
 * @param epoch the epoch of the key's map, Unix ms, to check that the key's time fits a `Date`
 * @throws InvalidIdError unless `key` is five or more base-62 digits, optionally followed by a hyphen and a suffix
 */
export function readKey(key: unknown, epoch: number): KeyParts {
  if (typeof key !== 'string') throw new InvalidIdError(`a key must be text, not ${show(key)}`);
  const hyphen = key.indexOf('-');
  const end = hyphen < 0 ? key.length : hyphen;
  if (end < 5) throw notAKey(key, 'a key has five or more base-62 digits before its first hyphen');
  let ms = 0;
  for (let i = 0; i < end - 4; i++) {
    const digit = base62Digit(key.charCodeAt(i));
    if (digit < 0) throw notAKey(key, `${show(key.charAt(i))} is not a base-62 digit`);
    ms = ms * 62 + digit;
    if (ms > MAX_DATE) break;
  }
  const variant = pairAt(key, end - 4);
  const type = pairAt(key, end - 2);
  if (ms + epoch > MAX_DATE) throw notAKey(key, 'its time is later than a Date can hold');
  return { ms, variant, type, suffix: hyphen < 0 ? '' : key.slice(end + 1) };
}

function pairAt(key: string, at: number): number {
  const high = base62Digit(key.charCodeAt(at));
  const low = base62Digit(key.charCodeAt(at + 1));
  if (high < 0 || low < 0)
    throw notAKey(key, `${show(key.charAt(high < 0 ? at : at + 1))} is not a base-62 digit`);
  return high * 62 + low;
}

function notAKey(key: string, why: string): InvalidIdError {
  return new InvalidIdError(`${show(key)} is not a key: ${why}`);
}
