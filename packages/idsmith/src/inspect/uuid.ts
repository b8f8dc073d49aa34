import { bytesToHex, reverseBytes, swapNibbles } from '../encoding/hex.js';
import { readUuidText } from '../encoding/uuid-text.js';
import { type RankedReading, ranked, rankedByTime, timeFields } from './reading.js';

/** Reads text as a UUID: 36 characters, even as a URN or in braces, or 32 hex digits. */
export function readUuid(text: string, now: number): RankedReading[] {
  const bytes = bytesOf(text);
  if (bytes === undefined) return [];
  const version = (bytes[6] as number) >> 4;
  if (version === 0xb)
    return [ranked('locality', 'a UUID of version b', { version: 'b', ...localityFields(bytes) })];
  const plain = readStandard(bytes, now);
  const isStandard = version === 8 && (bytes[8] as number) >> 6 === 0b10;
  if (!isStandard || !isPlausible(timeIn(bytes))) return [plain];
  const fields = { version: '8', format: 'rfc9562', ...localityFields(bytes) };
  return [ranked('locality', 'a UUID of version 8 that ends with a plausible time', fields), plain];
}

/** The bytes of a UUID; `undefined` for other text. Hex digits alone must have a version and the standard variant. */
function bytesOf(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(16);
  const bare = text.replace(/^urn:uuid:/i, '').replace(/^\{(.*)\}$/, '$1');
  if (readUuidText(bare, bytes)) return bytes;
  const isHex = /^[\da-f]{12}[1-8][\da-f]{3}[89ab][\da-f]{15}$/i.test(text);
  const hyphenated = text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return isHex && readUuidText(hyphenated, bytes) ? bytes : undefined;
}

/** A UUID of a version that the standard has, with its time if there is one. */
function readStandard(bytes: Uint8Array, now: number): RankedReading {
  const { reason, fields, timestamp } = uuidFields(bytes);
  return timestamp === undefined
    ? ranked('uuid', reason, fields)
    : rankedByTime('uuid', reason, fields, timestamp, now);
}

/** The fields that versions b and 8 have in common. */
function localityFields(bytes: Uint8Array): Record<string, string | number> {
  const view = new DataView(bytes.buffer);
  const counter = view.getInt32(0);
  return {
    counter: bytesToHex(bytes.subarray(0, 4)),
    // The id does not show its mode: it is one counter in sequential mode, and the other in variable mode.
    sequentialCounter: counter >>> 0,
    variableCounter: reverseBytes(swapNibbles(counter)) >>> 0,
    processId: view.getUint16(4),
    macFragment: maskedMac(bytes),
    ...timeFields(timeIn(bytes)),
  };
}

/** The MAC address as `__:__:_d:53:7a:50`. Underscores stand for digits that are not in the id; version 8 lacks one more. */
function maskedMac(bytes: Uint8Array): string {
  const [first, ...rest] = bytes.subarray(6, 10);
  const known = rest.map((byte) => byte.toString(16).padStart(2, '0'));
  if ((first as number) >> 4 === 8) known[1] = `_${known[1]?.charAt(1)}`;
  return ['__', '__', `_${((first as number) & 15).toString(16)}`, ...known].join(':');
}

function timeIn(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer);
  return view.getUint16(10) * 2 ** 32 + view.getUint32(12);
}

/** True if the time is between 2010 and 2100. Other programs put any bits into version 8. */
function isPlausible(ms: number): boolean {
  return ms >= Date.UTC(2010) && ms < Date.UTC(2100);
}

/** The start of the Gregorian calendar, 15 October 1582, from which versions 1, 2 and 6 count: ms before 1970. */
const GREGORIAN = 12_219_292_800_000;

/** The contents of a UUID of any version. */
interface UuidContents {
  readonly reason: string;
  readonly fields: Readonly<Record<string, string | number>>;
  /** Unix milliseconds, if the version has a time. */
  readonly timestamp?: number;
}

/** The contents of a UUID by its version, as RFC 9562 defines them. */
export function uuidFields(bytes: Uint8Array): UuidContents {
  const version = (bytes[6] as number) >> 4;
  const fields = { version: version.toString(16) };
  if (bytes.every((byte) => byte === 0)) return { reason: 'the nil UUID', fields };
  if (bytes.every((byte) => byte === 0xff)) return { reason: 'the max UUID', fields };
  if ((bytes[8] as number) >> 6 !== 0b10)
    return { reason: 'a UUID of another variant than RFC 9562', fields };
  return (READERS[version] ?? unknownVersion)(bytes, fields);
}

type Reader = (bytes: Uint8Array, fields: { version: string }) => UuidContents;

const READERS: Readonly<Record<number, Reader>> = {
  1: (bytes, fields) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const ticks = ticksOf(view.getUint16(6) & 0xfff, view.getUint16(4), view.getUint32(0));
    return gregorian('version 1: time and MAC address', { ...fields, ...clockAndNode(bytes) }, ticks);
  },
  2: (bytes, fields) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    // The lowest 32 bits of the time hold a user or group, so the time is exact to seven minutes.
    const ticks = ticksOf(view.getUint16(6) & 0xfff, view.getUint16(4), 0);
    const owner = { domain: bytes[9] as number, localId: view.getUint32(0), node: macOf(bytes) };
    return gregorian(
      'version 2: a local user, and a time to within seven minutes',
      { ...fields, ...owner },
      ticks,
    );
  },
  3: (_bytes, fields) => ({ reason: 'version 3: the MD5 of a name', fields }),
  4: (_bytes, fields) => ({ reason: 'version 4: random', fields }),
  5: (_bytes, fields) => ({ reason: 'version 5: the SHA-1 of a name', fields }),
  6: (bytes, fields) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const ticks =
      (BigInt(view.getUint32(0)) << 28n) | BigInt((view.getUint16(4) << 12) | (view.getUint16(6) & 0xfff));
    return gregorian(
      'version 6: time and MAC address, in order',
      { ...fields, ...clockAndNode(bytes) },
      ticks,
    );
  },
  7: (bytes, fields) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const timestamp = view.getUint32(0) * 2 ** 16 + view.getUint16(4);
    return { reason: 'version 7: Unix time and random bits', fields, timestamp };
  },
  8: (_bytes, fields) => ({ reason: 'version 8: whatever its maker chose', fields }),
};

const unknownVersion: Reader = (_bytes, fields) => ({
  reason: `a UUID of version ${fields.version}, which RFC 9562 does not have`,
  fields,
});

/** A number of 60 bits that counts 100 nanoseconds. */
function ticksOf(high: number, mid: number, low: number): bigint {
  return (BigInt(high) << 48n) | (BigInt(mid) << 32n) | BigInt(low);
}

function gregorian(reason: string, fields: UuidContents['fields'], ticks: bigint): UuidContents {
  return { reason, fields, timestamp: Number(ticks / 10_000n) - GREGORIAN };
}

function clockAndNode(bytes: Uint8Array): { clockSequence: number; node: string } {
  const clockSequence = (((bytes[8] as number) & 0x3f) << 8) | (bytes[9] as number);
  return { clockSequence, node: macOf(bytes) };
}

function macOf(bytes: Uint8Array): string {
  return bytesToHex(bytes.subarray(10)).replace(/(..)(?=.)/g, '$1:');
}
