import { describePublicId } from '../public/describe.js';
import { type Candidate, candidate, RANKS, UNLIKELY } from './reading.js';

/** The part of `publicIds(…)` that decodes the ids of one prefix. */
export interface PublicIdReader {
  readonly prefix: string;
  is(text: unknown): boolean;
  decode(text: string): bigint | string;
}

/** Reads text as a public id: prefix, form and key id from the text, and the id if one of `readers` has the key. */
export function readPublicId(text: string, readers: readonly PublicIdReader[]): Candidate[] {
  const found = describePublicId(text);
  if (found === undefined) return [];
  const { prefix, form, keyId } = found;
  const fields = { prefix, form, keyId };
  const own = readers.filter((reader) => reader.prefix === prefix);
  const opener = own.find((reader) => reader.is(text));
  if (opener)
    return [
      candidate(
        'public',
        'a public id of one of the keys',
        { ...fields, id: String(opener.decode(text)) },
        0,
      ),
    ];
  const shape = `a prefix and ${text.length - prefix.length - 1} characters: a public id`;
  // Thirteen characters of base 62 may be many things.
  const rank = form === 'short' ? RANKS.nanoid : RANKS.public;
  if (own.length === 0) return [candidate('public', `${shape}, if it has a key ${keyId}`, fields, rank)];
  return [candidate('public', `${shape}; but none of the keys has made it`, fields, rank + UNLIKELY)];
}
