import { reverseBytes, swapNibbles } from '../encoding/bits.js';
import { bytesToHex } from '../encoding/hex.js';
import { LocalityUuid } from '../locality/uuid.js';
import type { Reading } from './reading.js';
import { timeFields } from './time.js';

/** Reads an id as a UUID. The result is empty for other text. */
export function readUuid(text: string): Reading[] {
  const uuid = parse(text);
  if (uuid === undefined) return [];
  const { version } = uuid;
  const bytes = uuid.toBytes();
  if (version === 'b') return [{ family: 'locality', fields: { version, ...fieldsOf(bytes) } }];
  const plain: Reading = { family: 'uuid', fields: { version } };
  const standard = version === '8' && (bytes[8] as number) >> 6 === 0b10;
  return standard && isPlausible(timeIn(bytes))
    ? [{ family: 'locality', fields: { version, format: 'rfc9562', ...fieldsOf(bytes) } }, plain]
    : [plain];
}

function parse(text: string): LocalityUuid | undefined {
  try {
    return LocalityUuid.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields that versions b and 8 have in common. */
function fieldsOf(bytes: Uint8Array): Record<string, string | number> {
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
