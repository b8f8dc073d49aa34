import { readBase32 } from '../encoding/base32.js';
import { base62Digit } from '../encoding/base62.js';
import { bytesToHex } from '../encoding/hex.js';
import { writeUuidText } from '../encoding/uuid-text.js';
import { type RankedReading, ranked, rankedByTime } from './reading.js';
import { uuidFields } from './uuid.js';

// Kinds of ids that other programs define.

/** A ULID or the suffix of a TypeID: 26 characters for 128 bits, so the first is 7 at most. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Reads text as a ULID, of either case: 48 bits of time and 80 random bits. */
export function readUlid(text: string, now: number): RankedReading[] {
  const bytes = bytesOf(text.toLowerCase());
  if (bytes === undefined) return [];
  const view = new DataView(bytes.buffer);
  const timestamp = view.getUint32(0) * 2 ** 16 + view.getUint16(4);
  const fields = { random: bytesToHex(bytes.subarray(6)) };
  return [rankedByTime('ulid', '26 characters of base 32: a ULID', fields, timestamp, now)];
}

/**
 * Reads text as a TypeID: a prefix and a UUID in base 32, both in lower case. Without a prefix, only a UUID of version 7 counts: of the
 * ULIDs in lower case, one in 64 has its bits by chance.
 */
export function readTypeId(text: string, now: number): RankedReading[] {
  const [, prefix = '', suffix] = /^(?:([a-z](?:[a-z_]{0,61}[a-z])?)_)?(.{26})$/.exec(text) ?? [];
  const bytes = suffix === undefined ? undefined : bytesOf(suffix);
  if (bytes === undefined) return [];
  const { reason, fields: contents, timestamp } = uuidFields(bytes);
  const { version } = contents;
  if (prefix === '' && !(version === '7' && timestamp !== undefined)) return [];
  const fields = { prefix, uuid: writeUuidText(bytes), ...contents };
  const shape = prefix === '' ? '26 characters' : 'a prefix and 26 characters';
  const why = `${shape} of base 32: a TypeID, ${reason}`;
  return [
    timestamp === undefined
      ? ranked('typeid', why, fields)
      : rankedByTime('typeid', why, fields, timestamp, now),
  ];
}

/** The 16 bytes of 26 characters. */
function bytesOf(suffix: string): Uint8Array | undefined {
  return SUFFIX.test(suffix) ? readBase32(suffix, 2)?.bytes : undefined;
}

const XID_DIGITS = '0123456789abcdefghijklmnopqrstuv';

/** Reads text as an xid: 12 bytes as 20 characters of another base 32, of which the last has one bit. */
export function readXid(text: string, now: number): RankedReading[] {
  if (!/^[0-9a-v]{19}[0g]$/.test(text)) return [];
  let bits = 0n;
  for (const character of text) bits = (bits << 5n) | BigInt(XID_DIGITS.indexOf(character));
  const hex = (bits >> 4n).toString(16).padStart(24, '0');
  const part = (from: number, to: number) => Number.parseInt(hex.slice(from, to), 16);
  const fields = { machine: hex.slice(8, 14), processId: part(14, 18), counter: part(18, 24) };
  return [rankedByTime('xid', '20 characters of base 32: an xid', fields, part(0, 8) * 1000, now)];
}

/** KSUIDs count seconds from 13 May 2014. */
const KSUID_EPOCH = 1_400_000_000;

/** Reads text as a KSUID: 32 bits of time and 128 random bits, as 27 digits of base 62. */
export function readKsuid(text: string, now: number): RankedReading[] {
  if (!/^[0-9A-Za-z]{27}$/.test(text)) return [];
  let bits = 0n;
  for (const character of text) bits = bits * 62n + BigInt(base62Digit(character.charCodeAt(0)));
  if (bits >> 160n !== 0n) return [];
  const timestamp = (Number(bits >> 128n) + KSUID_EPOCH) * 1000;
  const payload = BigInt.asUintN(128, bits).toString(16).padStart(32, '0');
  return [rankedByTime('ksuid', '27 digits of base 62: a KSUID', { payload }, timestamp, now)];
}

/** Reads text as an ObjectId of MongoDB: seconds, five random bytes and a counter, as 24 hex digits. */
export function readObjectId(text: string, now: number): RankedReading[] {
  if (!/^[\da-f]{24}$/i.test(text)) return [];
  const timestamp = Number.parseInt(text.slice(0, 8), 16) * 1000;
  const fields = { random: text.slice(8, 18).toLowerCase(), counter: Number.parseInt(text.slice(18), 16) };
  return [rankedByTime('objectid', '24 hex digits: an ObjectId', fields, timestamp, now)];
}

/** Reads text as a nanoid: 21 characters without structure. */
export function readNanoid(text: string): RankedReading[] {
  if (!/^[\w-]{21}$/.test(text)) return [];
  const reason = '21 characters that a nanoid may have: no structure';
  return [ranked('nanoid', reason, { length: text.length })];
}
