import { reverseBytes, swapNibbles } from '../encoding/bits.js';
import { bytesToHex } from '../encoding/hex.js';
import { readUuidText } from '../encoding/uuid-text.js';
import { type Candidate, candidate } from './reading.js';
import { timedCandidate, timeFields } from './time.js';
import { uuidFields } from './uuid-versions.js';

/** Reads text as a UUID: 36 characters, also as a URN or in braces, or 32 hex digits. */
export function readUuid(text: string, now: number): Candidate[] {
  const bytes = bytesOf(text);
  if (bytes === undefined) return [];
  const version = (bytes[6] as number) >> 4;
  if (version === 0xb)
    return [candidate('locality', 'a UUID of version b', { version: 'b', ...localityFields(bytes) })];
  const plain = readStandard(bytes, now);
  const isStandard = version === 8 && (bytes[8] as number) >> 6 === 0b10;
  if (!isStandard || !isPlausible(timeIn(bytes))) return [plain];
  const fields = { version: '8', format: 'rfc9562', ...localityFields(bytes) };
  return [candidate('locality', 'a UUID of version 8 that ends with a plausible time', fields), plain];
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
function readStandard(bytes: Uint8Array, now: number): Candidate {
  const { reason, fields, timestamp } = uuidFields(bytes);
  return timestamp === undefined
    ? candidate('uuid', reason, fields)
    : timedCandidate('uuid', reason, fields, timestamp, now);
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
