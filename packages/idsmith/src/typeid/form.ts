import { readBase32 } from '../encoding/base32.js';
import { InvalidIdError } from '../errors.js';
import { refuse, show } from '../options.js';

// A TypeID (specification 0.3) is a prefix, an underscore, and a UUID as 26 digits of base 32: two zero bits, then 128 bits. An
// empty prefix has no underscore.

/** The text of a typed id: `` `user_${string}` `` for the prefix `user`. */
export type TypeIdText<P extends string> = P extends '' ? string : `${P}_${string}`;

const PREFIX = /^([a-z]([a-z_]{0,61}[a-z])?)?$/;
/** The first digit has three bits. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const SUFFIX_LENGTH = 26;

/**
 * The text before the digits of every typed id with the prefix.
 *
 * @throws InvalidOptionError when the prefix is not that of a typed id
 */
export function headOf(prefix: string): string {
  if (typeof prefix !== 'string' || !PREFIX.test(prefix))
    refuse('prefix', "0 to 63 letters from a to z and '_', with a letter at both ends", prefix);
  return prefix === '' ? '' : `${prefix}_`;
}

/** The 16 bytes of the UUID in a typed id with this head; `undefined` for other values. */
export function typeIdBytes(text: unknown, head: string): Uint8Array | undefined {
  if (typeof text !== 'string' || !text.startsWith(head)) return undefined;
  const suffix = text.slice(head.length);
  return SUFFIX.test(suffix) ? readBase32(suffix, 2)?.bytes : undefined;
}

/** @throws InvalidIdError when `text` is not a typed id with this head */
export function requireTypeId(text: unknown, head: string): Uint8Array {
  const bytes = typeIdBytes(text, head);
  if (bytes !== undefined) return bytes;
  const form = `${head}… with ${SUFFIX_LENGTH} digits of base 32 in lower case`;
  throw new InvalidIdError(`${show(text)} is not a typed id: it must be ${form}`);
}
