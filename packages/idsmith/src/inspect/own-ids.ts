import { MAX_INT64, MIN_INT64, readInt64 } from '../encoding/int64.js';
import { decodeFlake, type LayoutOptions, PRESETS } from '../flake/decode.js';
import { describePublicId } from '../public/describe.js';
import { readKey } from './key-codec.js';
import { DAY, RANKS, type RankedReading, ranked, timeFields, UNLIKELY } from './reading.js';

// The families of this library, except for UUIDs.

/** Reads an id as a flake: one reading for each preset that gives a plausible time, the most recent first. */
export function readFlake(text: string, now: number): RankedReading[] {
  if (!/^-?\d{1,20}$/.test(text)) return [];
  return Object.entries(PRESETS)
    .flatMap(([name, layout]) => readAs(name, layout, text, now))
    .sort((a, b) => timestampOf(b) - timestampOf(a));
}

function timestampOf({ fields: { timestamp } }: RankedReading): number {
  return Number(timestamp);
}

function readAs(name: string, layout: LayoutOptions, text: string, now: number): RankedReading[] {
  const decoded = decodeFlake(text, layout);
  if (decoded === undefined) return [];
  const { timestamp, node, sequence } = decoded;
  // Plausible times begin a month after the epoch and end a day from now.
  if (!(timestamp > layout.epoch + 30 * DAY && timestamp < now + DAY)) return [];
  const fields = { layout: name, node, sequence, ...timeFields(timestamp) };
  return [ranked('flake', `a number with a plausible time in the layout ${name}`, fields)];
}

/** The default epoch of keys. */
const EPOCH = 1_325_404_800_000;

/**
 * Reads an id as a sharded key with the default epoch: a key minted after the first day, whose keys look like words, and
 * before now; or a special key, which has the variant 0 and a name.
 */
export function readShardKey(text: string, now: number): RankedReading[] {
  try {
    const { ms, variant, type, suffix } = readKey(text, EPOCH);
    const timestamp = EPOCH + ms;
    const isSpecial = variant === 0 && /^[0-9A-Za-z]+$/.test(suffix);
    const isMinted = ms > DAY && timestamp < now + DAY;
    if (!isMinted && !isSpecial) return [];
    const parts = { ms, variant, type, ...(suffix !== '' && { suffix }) };
    return [
      isMinted
        ? ranked('key', 'base 62 with a plausible time: a sharded key', {
            ...parts,
            ...timeFields(timestamp),
          })
        : ranked('key', 'base 62 with variant 0 and a name: a special key', parts),
    ];
  } catch {
    return [];
  }
}

/** The part of `publicIds(…)` that decodes the ids of one prefix. */
export interface PublicIdReader {
  readonly prefix: string;
  is(text: unknown): boolean;
  decode(text: string): bigint | string;
}

/** Reads text as a public id: prefix, form and key id from the text, and the id if one of `readers` has the key. */
export function readPublicId(text: string, readers: readonly PublicIdReader[]): RankedReading[] {
  const found = describePublicId(text);
  if (found === undefined) return [];
  const { prefix, form, keyId } = found;
  const fields = { prefix, form, keyId };
  const own = readers.filter((reader) => reader.prefix === prefix);
  const opener = own.find((reader) => reader.is(text));
  if (opener)
    return [
      ranked('public', 'a public id of one of the keys', { ...fields, id: String(opener.decode(text)) }, 0),
    ];
  const shape = `a prefix and ${text.length - prefix.length - 1} characters: a public id`;
  // Thirteen characters of base 62 may be many things.
  const rank = form === 'short' ? RANKS.nanoid : RANKS.public;
  if (own.length === 0) return [ranked('public', `${shape}, if it has a key ${keyId}`, fields, rank)];
  return [ranked('public', `${shape}; but none of the keys has made it`, fields, rank + UNLIKELY)];
}

/** Reads text as a number of a sequence. Any whole number of 64 bits may be one. */
export function readSequenceNumber(text: string): RankedReading[] {
  const value = readInt64(text);
  if (value === undefined || value < MIN_INT64 || value > MAX_INT64) return [];
  return [ranked('sequence', 'a whole number: it may come from a sequence', { value: String(value) })];
}
