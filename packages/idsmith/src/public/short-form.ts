import { ff1 } from '#cipher';
import { base62Digit, toBase62 } from '../encoding/base62.js';
import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';
import { deriveKey } from './derive-key.js';
import { type Form, LENGTHS } from './form.js';
import { requireInt64 } from './int64-form.js';
import type { Keyring } from './keys.js';

// The text is a number below 10 · 2^74 in base 62: the key id (0 to 9) times 2^74, plus 74 bits that FF1 has encrypted. These
// are 11 bits of zeroes and then the id, 63 bits. A text that somebody makes up has the zeroes once in 2^11 texts.

const BITS = 74;
const RANGE = 2n ** 74n;
/** FF1 works on digits: 37 digits of radix 4 are 74 bits. */
const RADIX = 4;
const DIGITS = BITS / 2;

/** Thirteen digits of base 62 in two parts that are safe integers. */
const LOW_DIGITS = 7;
const LOW_RANGE = 62n ** 7n;

/** The short form for numbers from 0 to 2^63 − 1. */
export function shortForm(prefix: string, { keys, current }: Keyring): Form<bigint> {
  const ciphers = new Map(
    Array.from(keys, ([id, secret]) => [id, ff1(RADIX, deriveKey(secret, 'short', prefix))]),
  );
  const cipherOf = (keyId: number) => ciphers.get(keyId) as ReturnType<typeof ff1>;
  return {
    length: LENGTHS.short,
    seal(id) {
      const value = requireInt64(id);
      if (value >> 63n !== 0n)
        throw new InvalidIdError(`${show(id)} does not fit a short id, which holds 0 to 2^63 - 1`);
      const sealed = BigInt(current) * RANGE + fromDigits(cipherOf(current).encrypt(toDigits(value)));
      const high = toBase62(Number(sealed / LOW_RANGE), LENGTHS.short - LOW_DIGITS);
      return `${prefix}_${high}${toBase62(Number(sealed % LOW_RANGE), LOW_DIGITS)}`;
    },
    parse(body) {
      const value = readNumber(body);
      if (value === undefined) return undefined;
      const keyId = Number(value / RANGE);
      const open = () => {
        const id = fromDigits(cipherOf(keyId).decrypt(toDigits(value % RANGE)));
        return id >> 63n === 0n ? id : undefined;
      };
      return { keyId, open };
    },
  };
}

function toDigits(value: bigint): number[] {
  const digits = value.toString(RADIX).padStart(DIGITS, '0');
  return Array.from(digits, Number);
}

function fromDigits(digits: readonly number[]): bigint {
  return digits.reduce((value, digit) => value * BigInt(RADIX) + BigInt(digit), 0n);
}

/** The number of a base-62 text, of any length; `undefined` if a character is no digit. */
function readNumber(text: string): bigint | undefined {
  let value = 0n;
  for (let i = 0; i < text.length; i++) {
    const digit = base62Digit(text.charCodeAt(i));
    if (digit < 0) return undefined;
    value = value * 62n + BigInt(digit);
  }
  return value;
}
