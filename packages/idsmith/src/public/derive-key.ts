import { cbcMac } from '#cipher';

/** The uses of a key. Each use of each prefix has a key of its own, so an id never passes as one of another prefix or form. */
export const KEY_USES = { int64: 1, uuid: 2, uuidTag: 3, short: 4 } as const;

/** The length of the messages in bytes. All are equally long, which CBC-MAC needs. */
const MESSAGE_BYTES = 96;
const LABEL = 'idsmith public id v1';

/**
 * Derives the key of 32 bytes for a use and a prefix from a secret: two blocks of CBC-MAC with AES-256, in the counter mode of
 * NIST SP 800-108. The message has the number of the block, the use and the length of the prefix (a byte each), the label,
 * the prefix, and zeroes.
 */
export function deriveKey(secret: Uint8Array, use: keyof typeof KEY_USES, prefix: string): Uint8Array {
  const key = new Uint8Array(32);
  for (const block of [1, 2]) {
    const message = new Uint8Array(MESSAGE_BYTES);
    message.set([block, KEY_USES[use], prefix.length]);
    message.set(
      Array.from(LABEL + prefix, (character) => character.charCodeAt(0)),
      3,
    );
    key.set(cbcMac(secret, message), 16 * (block - 1));
  }
  return key;
}
