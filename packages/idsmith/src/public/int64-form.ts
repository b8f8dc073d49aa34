import { aesBlock } from '#cipher';
import { asciiText } from '#runtime';
import { readBase32, writeBase32 } from '../encoding/base32.js';
import { MAX_INT64, readInt64 } from '../encoding/int64.js';
import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';
import type { BlockCipher } from '../runtime/cipher.js';
import { deriveKey } from './derive-key.js';
import { type Form, KEY_ID_BITS, LENGTHS } from './form.js';
import type { Keyring } from './keys.js';

// The text is 135 bits in base 32: the key id (7 bits) and one AES block (128 bits). The block holds 64 bits of check and then
// the id. The check is 0, or 1 for an id of 2^63 and more. A text that somebody makes up decrypts to a random block, whose
// check is right once in 2^63 texts.

/**
 * Reads a whole number from −2^63 to 2^64 − 1, as a bigint or as decimal digits.
 *
 * @throws InvalidIdError for any other value
 */
export function requireInt64(id: unknown): bigint {
  const value = readInt64(id);
  if (value !== undefined) return value;
  const hint = typeof id === 'number' ? ': give a bigint, BigInt(id)' : '';
  throw new InvalidIdError(`${show(id)} is not a bigint or decimal text of 64 bits${hint}`);
}

/** The form for numbers of 64 bits. */
export function int64Form(prefix: string, { keys, current }: Keyring): Form<bigint> {
  const ciphers = new Map(
    Array.from(keys, ([id, secret]) => [id, aesBlock(deriveKey(secret, 'int64', prefix))]),
  );
  const encrypting = ciphers.get(current) as BlockCipher;
  const start = `${prefix}_`;
  const text = Uint8Array.from({ length: start.length + LENGTHS.int64 }, (_, i) => start.charCodeAt(i));
  const plain = new Uint8Array(16);
  const view = new DataView(plain.buffer);
  return {
    length: LENGTHS.int64,
    seal(id) {
      const value = requireInt64(id);
      view.setUint32(4, value > MAX_INT64 ? 1 : 0);
      view.setBigInt64(8, value);
      writeBase32(text, start.length, current, KEY_ID_BITS, encrypting.encrypt(plain));
      return asciiText(text, text.length);
    },
    parse(body) {
      const read = readBase32(body, KEY_ID_BITS);
      return read && { keyId: read.head, open: () => open(read.head, read.bytes) };
    },
  };

  function open(keyId: number, bytes: Uint8Array): bigint | undefined {
    const block = (ciphers.get(keyId) as BlockCipher).decrypt(bytes);
    const found = new DataView(block.buffer, block.byteOffset, 16);
    const check = found.getUint32(4);
    const isUnsigned = check & 1;
    // All bits are looked at, without a branch, so that the time does not tell how many are right.
    const wrong = found.getUint32(0) | (check & ~1) | (isUnsigned & ~(found.getUint32(8) >>> 31));
    if (wrong !== 0) return undefined;
    return isUnsigned === 1 ? found.getBigUint64(8) : found.getBigInt64(8);
  }
}
