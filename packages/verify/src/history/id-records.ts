import { FAMILIES, type Family } from '../families.js';

/**
 * The length of a record, big-endian: 1 byte the code of the family, 1 byte 1 for the first id of a generator and 0 for others, 2 bytes
 * the number of the source that minted, 4 bytes the ms in which the source had handed out nothing of the family before, 16 bytes the id.
 */
export const RECORD_BYTES = 24;

/** An id that a process has handed out. */
export interface IdRecord {
  readonly family: Family;
  /** The number of the process, or of one of several that mint in a process. */
  readonly source: number;
  readonly id: bigint;
  /** True for the first id of a generator. */
  readonly isFirst: boolean;
  /** Milliseconds without an id of the family before this one. */
  readonly waited: number;
}

/** Ids of a source as records. The first of them has waited, the others came with it. */
export function recordBytes(
  family: Family,
  source: number,
  ids: readonly bigint[],
  isFirst = false,
  waited = 0,
): Uint8Array {
  const bytes = Buffer.alloc(RECORD_BYTES * ids.length);
  ids.forEach((id, i) => {
    const at = RECORD_BYTES * i;
    bytes.writeUInt8(FAMILIES.indexOf(family), at);
    bytes.writeUInt8(isFirst && i === 0 ? 1 : 0, at + 1);
    bytes.writeUInt16BE(source, at + 2);
    bytes.writeUInt32BE(i === 0 ? Math.round(waited) : 0, at + 4);
    bytes.writeBigUInt64BE(id >> 64n, at + 8);
    bytes.writeBigUInt64BE(id & 0xffff_ffff_ffff_ffffn, at + 16);
  });
  return bytes;
}

/** The records in bytes. A last one may be cut off: the process was killed. */
export function* readRecords(bytes: Uint8Array): Generator<IdRecord> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const family = FAMILIES[view.getUint8(at)];
    if (family === undefined) throw new Error(`no family has the code ${view.getUint8(at)}`);
    yield {
      family,
      isFirst: view.getUint8(at + 1) === 1,
      source: view.getUint16(at + 2),
      waited: view.getUint32(at + 4),
      id: (view.getBigUint64(at + 8) << 64n) | view.getBigUint64(at + 16),
    };
  }
}
