// Crockford's base 32 in lower case: the digits and the letters without i, l, o and u. Nothing else is read, so that a value
// has one text.

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));

/** The value of each character code below 128, or −1. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** The value of a base-32 digit's character code, or −1. */
function base32Digit(code: number): number {
  return VALUES[code] ?? -1;
}

/**
 * Writes a number of `headBits` bits and then the bits of `bytes`, as character codes from `at` to the end of `target`. Bits that
 * do not fit are left out.
 */
export function writeBase32(
  target: Uint8Array,
  at: number,
  head: number,
  headBits: number,
  bytes: Uint8Array,
): void {
  let pending = head;
  let bits = headBits;
  let next = 0;
  for (let i = at; i < target.length; i++) {
    if (bits < 5) {
      pending = (pending << 8) | (bytes[next++] as number);
      bits += 8;
    }
    bits -= 5;
    target[i] = CODES[pending >>> bits] as number;
    pending &= (1 << bits) - 1;
  }
}

/**
 * Reads text back into the number of `headBits` bits and the bytes after it. The last byte may be partial, with zeroes at
 * its end. `undefined` if a character is no digit.
 */
export function readBase32(text: string, headBits: number): { head: number; bytes: Uint8Array } | undefined {
  const bytes = new Uint8Array(Math.ceil((text.length * 5 - headBits) / 8));
  let head = -1;
  let pending = 0;
  let bits = 0;
  let next = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = base32Digit(text.charCodeAt(i));
    if (digit < 0) return undefined;
    pending = (pending << 5) | digit;
    bits += 5;
    if (head < 0 && bits >= headBits) {
      bits -= headBits;
      head = pending >>> bits;
      pending &= (1 << bits) - 1;
    }
    if (head >= 0 && bits >= 8) {
      bits -= 8;
      bytes[next++] = pending >>> bits;
      pending &= (1 << bits) - 1;
    }
  }
  if (bits > 0 && next < bytes.length) bytes[next] = pending << (8 - bits);
  return { head, bytes };
}
