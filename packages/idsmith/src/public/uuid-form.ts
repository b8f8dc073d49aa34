import { aesBlock } from '#cipher';
import { asciiText } from '#runtime';
import { readBase32, writeBase32 } from '../encoding/base32.js';
import { readUuidText, writeUuidText } from '../encoding/uuid-text.js';
import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';
import { deriveKey } from './derive-key.js';
import { type Form, KEY_ID_BITS, LENGTHS } from './form.js';
import type { Keyring } from './keys.js';

// The text is 180 bits in base 32: the key id (7 bits), the UUID as one AES block (128 bits), and a tag (45 bits). The tag is
// the beginning of the block encrypted once more, with another key. A text that somebody makes up has the right tag once in
// 2^45 texts.

/** The bits of the tag's last byte that are in the text: 45 bits are five bytes and five bits. */
const LAST_BITS = 0xf8;
const TAG_BYTES = 6;

/** The form for UUIDs. */
export function uuidForm(prefix: string, { keys, current }: Keyring): Form<string> {
  const ciphers = new Map(
    Array.from(keys, ([id, secret]) => {
      const block = aesBlock(deriveKey(secret, 'uuid', prefix));
      return [id, { block, tag: aesBlock(deriveKey(secret, 'uuidTag', prefix)) }];
    }),
  );
  const start = `${prefix}_`;
  const text = Uint8Array.from({ length: start.length + LENGTHS.uuid }, (_, i) => start.charCodeAt(i));
  const plain = new Uint8Array(16);
  const sealed = new Uint8Array(16 + TAG_BYTES);
  const cipherOf = (keyId: number) => ciphers.get(keyId) as NonNullable<ReturnType<typeof ciphers.get>>;
  const encrypting = cipherOf(current);
  return {
    length: LENGTHS.uuid,
    seal(id) {
      if (typeof id !== 'string' || !readUuidText(id, plain))
        throw new InvalidIdError(`${show(id)} is not a UUID`);
      const block = encrypting.block.encrypt(plain);
      const tag = encrypting.tag.encrypt(block);
      // Faster than set() for so few bytes.
      for (let i = 0; i < 16; i++) sealed[i] = block[i] as number;
      for (let i = 0; i < TAG_BYTES; i++) sealed[16 + i] = tag[i] as number;
      writeBase32(text, start.length, current, KEY_ID_BITS, sealed);
      return asciiText(text, text.length);
    },
    parse(body) {
      const read = readBase32(body, KEY_ID_BITS);
      return read && { keyId: read.head, open: () => open(read.head, read.bytes) };
    },
  };

  function open(keyId: number, bytes: Uint8Array): string | undefined {
    const block = bytes.slice(0, 16);
    const tag = cipherOf(keyId).tag.encrypt(block);
    // All bits are looked at, so that the time does not tell how many are right.
    let wrong = ((bytes[21] as number) ^ (tag[5] as number)) & LAST_BITS;
    for (let i = 0; i < TAG_BYTES - 1; i++) wrong |= (bytes[16 + i] as number) ^ (tag[i] as number);
    return wrong === 0 ? writeUuidText(cipherOf(keyId).block.decrypt(block)) : undefined;
  }
}
