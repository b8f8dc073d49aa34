import { readBase32 } from '../encoding/base32.js';
import { bytesToHex } from '../encoding/hex.js';
import { writeUuidText } from '../encoding/uuid-text.js';
import { type Candidate, candidate } from './reading.js';
import { timedCandidate } from './time.js';
import { uuidFields } from './uuid-versions.js';

/** A ULID or the suffix of a TypeID: 26 characters for 128 bits, so the first is 7 at most. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Reads text as a ULID, of either case: 48 bits of time and 80 random bits. */
export function readUlid(text: string, now: number): Candidate[] {
  const bytes = bytesOf(text.toLowerCase());
  if (bytes === undefined) return [];
  const view = new DataView(bytes.buffer);
  const timestamp = view.getUint32(0) * 2 ** 16 + view.getUint16(4);
  const fields = { random: bytesToHex(bytes.subarray(6)) };
  return [timedCandidate('ulid', '26 characters of base 32: a ULID', fields, timestamp, now)];
}

/** Reads text as a TypeID: a prefix and a UUID in base 32, both in lower case. */
export function readTypeId(text: string, now: number): Candidate[] {
  const [, prefix, suffix] = /^([a-z](?:[a-z_]{0,61}[a-z])?)_(.{26})$/.exec(text) ?? [];
  const bytes = suffix === undefined ? undefined : bytesOf(suffix);
  if (prefix === undefined || bytes === undefined) return [];
  const { reason, fields: contents, timestamp } = uuidFields(bytes);
  const fields = { prefix, uuid: writeUuidText(bytes), ...contents };
  const why = `a prefix and 26 characters of base 32: a TypeID, ${reason}`;
  return [
    timestamp === undefined
      ? candidate('typeid', why, fields)
      : timedCandidate('typeid', why, fields, timestamp, now),
  ];
}

/** The 16 bytes of 26 characters. */
function bytesOf(suffix: string): Uint8Array | undefined {
  return SUFFIX.test(suffix) ? readBase32(suffix, 2)?.bytes : undefined;
}

const XID_DIGITS = '0123456789abcdefghijklmnopqrstuv';

/** Reads text as an xid: 12 bytes as 20 characters of another base 32, of which the last has one bit. */
export function readXid(text: string, now: number): Candidate[] {
  if (!/^[0-9a-v]{19}[0g]$/.test(text)) return [];
  let bits = 0n;
  for (const character of text) bits = (bits << 5n) | BigInt(XID_DIGITS.indexOf(character));
  const hex = (bits >> 4n).toString(16).padStart(24, '0');
  const part = (from: number, to: number) => Number.parseInt(hex.slice(from, to), 16);
  const fields = { machine: hex.slice(8, 14), processId: part(14, 18), counter: part(18, 24) };
  return [timedCandidate('xid', '20 characters of base 32: an xid', fields, part(0, 8) * 1000, now)];
}
