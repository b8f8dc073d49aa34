// The import '#cipher' in Node, Bun and Deno: AES of Node's crypto. FF1 is in no runtime, and comes from @noble/ciphers.

import { createCipheriv, createDecipheriv } from 'node:crypto';
import { createRequire } from 'node:module';
import { InvalidOptionError } from '../errors.js';
import type { BlockCipher, DigitCipher } from './cipher.js';

const NO_IV = new Uint8Array(16);

/** AES-256 on single blocks. */
export function aesBlock(key: Uint8Array): BlockCipher {
  const encipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  return {
    encrypt: (block) => encipher.update(block),
    decrypt: (block) => decipher.update(block),
  };
}

/** The last block of `message` in CBC mode from a block of zeroes: CBC-MAC. The message is a multiple of 16 bytes long. */
export function cbcMac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-cbc', key, NO_IV).setAutoPadding(false);
  return cipher.update(message).subarray(-16);
}

/** FF1 with a key of 32 bytes. @throws InvalidOptionError when @noble/ciphers is not installed */
export function ff1(radix: number, key: Uint8Array): DigitCipher {
  const { FF1 } = load() as { FF1(radix: number, key: Uint8Array): DigitCipher };
  return FF1(radix, key);
}

function load(): unknown {
  try {
    return createRequire(import.meta.url)('@noble/ciphers/ff1.js');
  } catch (cause) {
    const isMissing = (cause as { code?: string }).code === 'MODULE_NOT_FOUND';
    throw new InvalidOptionError(
      isMissing
        ? 'short ids need the package @noble/ciphers, which is not installed: npm install @noble/ciphers'
        : `short ids need the package @noble/ciphers, which could not be loaded: ${(cause as Error).message}`,
      { cause },
    );
  }
}
