const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** All texts of two digits, `00` to `zz`, by their value. */
const PAIRS: readonly string[] = Array.from(
  { length: 62 * 62 },
  (_, value) => ALPHABET.charAt(Math.floor(value / 62)) + ALPHABET.charAt(value % 62),
);

/** The character codes of the first and the second digit of each pair. */
export const FIRST_DIGITS: Uint8Array = Uint8Array.from(PAIRS, (pair) => pair.charCodeAt(0));
export const SECOND_DIGITS: Uint8Array = Uint8Array.from(PAIRS, (pair) => pair.charCodeAt(1));

/** 62^4: quotient and remainder of a safe integer divided by it both fit 32 bits. */
const FOUR_DIGITS = 62 ** 4;

/** The value of each character code below 128, or −1. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** The value of a base-62 digit's character code, or −1. */
export function base62Digit(code: number): number {
  return VALUES[code] ?? -1;
}

/** Two digits for a whole number from 0 to 3843; `undefined` for any other number. */
export function base62Pair(value: number): string | undefined {
  return PAIRS[value];
}

/**
 * A whole number from 0 to 2^53 − 1 in base 62, padded with zeroes to `width`; `undefined` for any other number.
 *
 * @example toBase62(3843) // 'zz'
 */
export function toBase62(value: number, width = 1): string | undefined {
  if (!Number.isSafeInteger(value) || value < 0) return undefined;
  // Never rounded up to a whole number: quotients are below 2^30, where numbers are 2^-23 apart. A quotient that is not whole
  // lies at least 62^-4 below the next whole number, which is more than half of that.
  const high = Math.floor(value / FOUR_DIGITS);
  const low = value - high * FOUR_DIGITS;
  const text = high === 0 ? significant(low) : significant(high) + pairs(low);
  return text.length < width ? text.padStart(width, '0') : text;
}

/** Four digits for a number below 62^4. */
function pairs(value: number): string {
  const high = Math.floor(value / 3844);
  return (PAIRS[high] as string) + (PAIRS[value - high * 3844] as string);
}

/** The digits of a number below 2^31, without leading zeroes. */
function significant(value: number): string {
  let text = '';
  let rest = value;
  for (; rest >= 3844; rest = Math.floor(rest / 3844)) text = (PAIRS[rest % 3844] as string) + text;
  return (rest < 62 ? ALPHABET.charAt(rest) : (PAIRS[rest] as string)) + text;
}
