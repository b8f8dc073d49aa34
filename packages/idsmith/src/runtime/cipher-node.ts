// The import '#cipher' in Node, Bun and Deno: AES of Node's crypto. FF1 is in no runtime, and comes from @noble/ciphers.

import { createCipheriv, createDecipheriv } from 'node:crypto';
import { ownRequire } from '#require';
import { InvalidOptionError } from '../errors.js';
import type { BlockCipher, DigitCipher } from './cipher.js';

const NO_IV = new Uint8Array(16);

/** AES-256 on blocks, each by itself. */
export function aesBlock(key: Uint8Array): BlockCipher {
  const encipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  return {
    encrypt: (blocks) => encipher.update(blocks),
    decrypt: (blocks) => decipher.update(blocks),
  };
}

/** The last block of `message` in CBC mode from a block of zeroes: CBC-MAC. The message is a multiple of 16 bytes long. */
export function cbcMac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-cbc', key, NO_IV).setAutoPadding(false);
  return cipher.update(message).subarray(-16);
}

/** FF1 with a key of 32 bytes. @throws InvalidOptionError when @noble/ciphers is not installed */
export function ff1(radix: number, key: Uint8Array): DigitCipher {
  try {
    return load().FF1(radix, key);
  } catch (cause) {
    throw new InvalidOptionError(
      isMissing(cause)
        ? 'short ids need the package @noble/ciphers, which is not installed: npm install @noble/ciphers'
        : `short ids need the package @noble/ciphers, which could not be loaded: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/**
 * Loads the package when the first short ids are made, and at once: `import()` would answer later.
 *
 * A bundler finds the package in the call of `require`, and puts it into the bundle. It leaves a call inside a `try` to the time of
 * running if the package is not installed. Without a bundler, a module has no `require` and makes one.
 */
function load(): { FF1(radix: number, key: Uint8Array): DigitCipher } {
  try {
    return require('@noble/ciphers/ff1.js');
  } catch (error) {
    const own = ownRequire();
    if (isMissing(error) || own === undefined) throw error;
    return own('@noble/ciphers/ff1.js') as ReturnType<typeof load>;
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'MODULE_NOT_FOUND';
}
