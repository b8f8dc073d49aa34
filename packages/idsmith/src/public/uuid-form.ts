import { aesBlock } from '#cipher';
import { asciiText } from '#runtime';
import { readBase32, writeBase32 } from '../encoding/base32.js';
import { readUuidText, writeUuidText } from '../encoding/uuid-text.js';
import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';
import type { BlockCipher } from '../runtime/cipher.js';
import { deriveKey } from './derive-key.js';
import { type Form, KEY_ID_BITS, LENGTHS } from './form.js';
import type { Keyring } from './keys.js';

// The text is 180 bits in base 32: the key id (7 bits), the UUID as one AES block (128 bits), and a tag (45 bits). The tag is the
// beginning of another block: the UUID with a secret mask. Both blocks are encrypted in one call, which costs as much as one. A text
// that somebody makes up decrypts to a random UUID, and has its tag once in 2^45 texts.

/** The bits of the tag's last byte that are in the text: 45 bits are five bytes and five bits. */
const LAST_BITS = 0xf8;
const TAG_BYTES = 6;

interface Sealer {
  readonly cipher: BlockCipher;
  /** The difference between the two blocks. Nobody knows it without the key, so no two UUIDs can be chosen to have it. */
  readonly mask: Uint32Array;
}

/** The form for UUIDs. */
export function uuidForm(prefix: string, { keys, current }: Keyring): Form<string> {
  const sealers = new Map(Array.from(keys, ([id, secret]) => [id, makeSealer(secret, prefix)]));
  const start = `${prefix}_`;
  const text = Uint8Array.from({ length: start.length + LENGTHS.uuid }, (_, i) => start.charCodeAt(i));
  /** The UUID, and the UUID with the mask. */
  const plain = new Uint8Array(32);
  const words = new Uint32Array(plain.buffer);
  const { cipher, mask } = sealers.get(current) as Sealer;
  return {
    length: LENGTHS.uuid,
    seal(id) {
      if (typeof id !== 'string' || !readUuidText(id, plain))
        throw new InvalidIdError(`${show(id)} is not a UUID`);
      for (let i = 0; i < 4; i++) words[4 + i] = (words[i] as number) ^ (mask[i] as number);
      writeBase32(text, start.length, current, KEY_ID_BITS, cipher.encrypt(plain));
      return asciiText(text, text.length);
    },
    parse(body) {
      const read = readBase32(body, KEY_ID_BITS);
      return read && { keyId: read.head, open: () => open(read.head, read.bytes) };
    },
  };

  function open(keyId: number, bytes: Uint8Array): string | undefined {
    const { cipher, mask } = sealers.get(keyId) as Sealer;
    const id = Uint8Array.from(cipher.decrypt(bytes.subarray(0, 16)));
    const masked = new Uint32Array(id.slice().buffer);
    for (let i = 0; i < 4; i++) masked[i]! ^= mask[i] as number;
    const tag = cipher.encrypt(new Uint8Array(masked.buffer));
    // All bits are looked at, so that the time does not tell how many are right.
    let wrong = ((bytes[21] as number) ^ (tag[5] as number)) & LAST_BITS;
    for (let i = 0; i < TAG_BYTES - 1; i++) wrong |= (bytes[16 + i] as number) ^ (tag[i] as number);
    return wrong === 0 ? writeUuidText(id) : undefined;
  }
}

function makeSealer(secret: Uint8Array, prefix: string): Sealer {
  return {
    cipher: aesBlock(deriveKey(secret, 'uuid', prefix)),
    mask: new Uint32Array(deriveKey(secret, 'uuidTag', prefix).slice(0, 16).buffer),
  };
}
