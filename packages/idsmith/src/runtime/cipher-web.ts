// The import '#cipher' in browsers, edge workers and other runtimes: their own AES answers later, not at once, so it comes
// from @noble/ciphers.

import { cbc, ecb } from '@noble/ciphers/aes.js';
import { FF1 } from '@noble/ciphers/ff1.js';
import type { BlockCipher, DigitCipher } from './cipher.js';

const NO_IV = new Uint8Array(16);
const WHOLE_BLOCKS = { disablePadding: true };

/** AES-256 on blocks, each by itself. */
export function aesBlock(key: Uint8Array): BlockCipher {
  const own = key.slice();
  return {
    encrypt: (blocks) => ecb(own, WHOLE_BLOCKS).encrypt(blocks),
    decrypt: (blocks) => ecb(own, WHOLE_BLOCKS).decrypt(blocks),
  };
}

/** The last block of `message` in CBC mode from a block of zeroes: CBC-MAC. The message is a multiple of 16 bytes long. */
export function cbcMac(key: Uint8Array, message: Uint8Array): Uint8Array {
  return cbc(key, NO_IV, WHOLE_BLOCKS).encrypt(message).subarray(-16);
}

/** FF1 with a key of 32 bytes. */
export function ff1(radix: number, key: Uint8Array): DigitCipher {
  return FF1(radix, key.slice());
}
