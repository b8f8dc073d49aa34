import { base62Digit, base62Pair, FIRST_DIGITS, SECOND_DIGITS, toBase62 } from '../../encoding/base62.js';
import { InvalidIdError } from '../../errors.js';
import { refuse, requireInteger, show } from '../../options.js';

/** How many variants a millisecond has, and how many types there are: two base-62 digits. */
export const VARIANTS = 3844;

/** The type of a key that was made without one, named `$DEF`. */
export const DEFAULT_TYPE = VARIANTS - 1;

/** The latest time a `Date` can hold, ms. */
const MAX_DATE = 8.64e15;

/**
 * What a key holds. `1jyVFw3401-tags` is
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
  /** What follows the first hyphen; empty if there is none. */
  readonly suffix: string;
}

/** The part of any Redis key that decides where it lives: all up to the first hyphen. */
export function stemOf(key: string): string {
  const end = key.indexOf('-');
  return end < 0 ? key : key.slice(0, end);
}

/** A key of parts that are known to be in range. */
export function writeKey(ms: number, variant: number, type: number, msWidth = 1): string {
  if (ms >= SEVEN_DIGITS && ms < NO_MORE) return writeEleven(ms, variant, type);
  return (toBase62(ms, msWidth) as string) + (base62Pair(variant) as string) + (base62Pair(type) as string);
}

/** The times from 1.8 to 111 years after the epoch have seven digits. */
const SEVEN_DIGITS = 62 ** 6;
const NO_MORE = 62 ** 7;

/** A key of eleven digits, as nearly all are: made at once, which is three times as fast as putting pairs together. */
function writeEleven(ms: number, variant: number, type: number): string {
  const upper = Math.floor(ms / 62 ** 4);
  const lower = ms - upper * 62 ** 4;
  const a = Math.floor(upper / VARIANTS);
  const b = upper - a * VARIANTS;
  const c = Math.floor(lower / VARIANTS);
  const d = lower - c * VARIANTS;
  return String.fromCharCode(
    SECOND_DIGITS[a] as number,
    FIRST_DIGITS[b] as number,
    SECOND_DIGITS[b] as number,
    FIRST_DIGITS[c] as number,
    SECOND_DIGITS[c] as number,
    FIRST_DIGITS[d] as number,
    SECOND_DIGITS[d] as number,
    FIRST_DIGITS[variant] as number,
    SECOND_DIGITS[variant] as number,
    FIRST_DIGITS[type] as number,
    SECOND_DIGITS[type] as number,
  );
}

/**
 * Consecutive keys: `count` of them from (`ms`, `variant`) on, a full millisecond going on `step` later.
 *
 * @param span the first and the last variant to use of each millisecond
 * @param suffix the two digits of the type
 */
export function writeKeys(
  ms: number,
  variant: number,
  step: number,
  span: { readonly first: number; readonly last: number },
  count: number,
  suffix: string,
): string[] {
  const keys = new Array<string>(count);
  let [time, next] = [ms, variant];
  for (let i = 0; i < count; ) {
    const prefix = toBase62(time) as string;
    for (; next <= span.last && i < count; next++) keys[i++] = prefix + base62Pair(next) + suffix;
    time += step;
    next = span.first;
  }
  return keys;
}

/**
 * The parts of a key.
 *
 * @param epoch what the key's milliseconds are counted from, for the check that they make a time
 * @throws InvalidIdError unless it is five or more base-62 digits, perhaps with a hyphen and a suffix
 */
export function readKey(key: unknown, epoch: number): KeyParts {
  if (typeof key !== 'string') throw new InvalidIdError(`a key must be text, not ${show(key)}`);
  const hyphen = key.indexOf('-');
  const end = hyphen < 0 ? key.length : hyphen;
  if (end < 5) throw notAKey(key, 'it needs five or more base-62 digits');
  let ms = 0;
  for (let i = 0; i < end - 4; i++) {
    const digit = base62Digit(key.charCodeAt(i));
    if (digit < 0) throw notAKey(key, `${show(key.charAt(i))} is no base-62 digit`);
    ms = ms * 62 + digit;
    if (ms > MAX_DATE) break;
  }
  const variant = pairAt(key, end - 4);
  const type = pairAt(key, end - 2);
  if (ms + epoch > MAX_DATE) throw notAKey(key, 'its time is further than a date can hold');
  return { ms, variant, type, suffix: hyphen < 0 ? '' : key.slice(end + 1) };
}

function pairAt(key: string, at: number): number {
  const high = base62Digit(key.charCodeAt(at));
  const low = base62Digit(key.charCodeAt(at + 1));
  if (high < 0 || low < 0)
    throw notAKey(key, `${show(key.charAt(high < 0 ? at : at + 1))} is no base-62 digit`);
  return high * 62 + low;
}

function notAKey(key: string, why: string): InvalidIdError {
  return new InvalidIdError(`${show(key)} is not a key: ${why}`);
}

/**
 * A key of parts that a user gives, as upstream writes it: the time in two digits or more, the variant taken
 * modulo 3844, all but base-62 digits left out of the suffix.
 *
 * @throws InvalidOptionError if a part is out of range, or nothing is left of the suffix
 */
export function fixedKey(timestamp: number, variant: number, type: number, suffix?: string): string {
  requireInteger('timestamp', timestamp, 0, MAX_DATE);
  requireInteger('variant', variant, 0, Number.MAX_SAFE_INTEGER);
  const stem = writeKey(timestamp, variant % VARIANTS, type, 2);
  if (suffix === undefined || suffix === '') return stem;
  if (typeof suffix !== 'string') refuse('suffix', 'text', suffix);
  const kept = suffix.replace(/[^0-9A-Za-z]/g, '');
  if (kept === '') refuse('suffix', 'text with a letter or digit from 0-9A-Za-z', suffix);
  return `${stem}-${kept}`;
}
