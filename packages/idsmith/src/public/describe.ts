import { readBase32 } from '../encoding/base32.js';
import { base62Digit } from '../encoding/base62.js';
import { KEY_ID_BITS, LENGTHS, SHORT_KEY_IDS } from './form.js';

/** The parts of a public id that everybody can read. */
export interface PublicIdShape {
  readonly prefix: string;
  readonly form: keyof typeof LENGTHS;
  readonly keyId: number;
}

/** 2^74: the key id of a short text is the number of its digits divided by this. */
const SHORT_RANGE = 2n ** 74n;

/** The parts of text that has the shape of a public id; `undefined` for other text. Needs no key, and checks none. */
export function describePublicId(text: string): PublicIdShape | undefined {
  const [, prefix, body] = /^([a-z](?:[a-z_]{0,61}[a-z])?)_([0-9A-Za-z]+)$/.exec(text) ?? [];
  if (prefix === undefined || body === undefined) return undefined;
  if (body.length === LENGTHS.short) {
    const keyId = shortKeyId(body);
    return keyId < SHORT_KEY_IDS ? { prefix, form: 'short', keyId } : undefined;
  }
  const form = body.length === LENGTHS.int64 ? 'int64' : body.length === LENGTHS.uuid ? 'uuid' : undefined;
  const read = form && readBase32(body, KEY_ID_BITS);
  return read && { prefix, form, keyId: read.head };
}

function shortKeyId(body: string): number {
  let value = 0n;
  for (const character of body) value = value * 62n + BigInt(base62Digit(character.charCodeAt(0)));
  return Number(value / SHORT_RANGE);
}
