const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The value of a base-62 digit's character code, or −1. */
export function base62Digit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48; // 0-9
  if (code >= 65 && code <= 90) return code - 55; // A-Z
  return code >= 97 && code <= 122 ? code - 61 : -1; // a-z
}

/**
 * A whole number from 0 to 2^53 − 1 in base 62, padded with zeroes to `width`; `undefined` for any other number.
 *
 * @example toBase62(3843) // 'zz'
 */
export function toBase62(value: number, width = 1): string | undefined {
  if (!Number.isSafeInteger(value) || value < 0) return undefined;
  let text = '';
  let rest = value;
  do {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  } while (rest > 0);
  return text.padStart(width, '0');
}

/** The number that base-62 text stands for; `undefined` if it is empty, holds another character or passes 2^53 − 1. */
export function fromBase62(text: string): number | undefined {
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = base62Digit(text.charCodeAt(i));
    if (digit < 0) return undefined;
    value = value * 62 + digit;
    // The first value past 2^53 is noticed before the next digit could round it.
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
  }
  return text === '' ? undefined : value;
}
