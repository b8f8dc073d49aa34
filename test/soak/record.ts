import { nodeOf, timeOf } from '../chaos/layout.ts';

/** The families of a soak run, in the order of their codes in records. */
export const FAMILY_NAMES = ['flake', 'locality', 'uuid7', 'sequence', 'key'] as const;

export type FamilyName = (typeof FAMILY_NAMES)[number];

/**
 * The length of a record, big-endian: 1 byte the family's code, 1 byte nothing, 2 bytes the number of the source that
 * minted, 4 bytes for how many ms the source had handed out nothing of the family before, 16 bytes the id.
 */
export const RECORD_BYTES = 24;

const MINUTE = 60_000;
/** Ids of a sequence that go into one bucket: about as many as a store's processes mint in a minute or two. */
const SEQUENCE_BUCKET = 2n ** 14n;

/** A record that is looked at in its bytes. */
export interface SoakRecord {
  readonly family: FamilyName;
  readonly source: number;
  readonly waited: number;
  readonly id: bigint;
}

export function readRecord(bytes: Uint8Array, at: number): SoakRecord {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_BYTES);
  const family = FAMILY_NAMES[view.getUint8(0)];
  if (family === undefined) throw new Error(`no family has the code ${view.getUint8(0)}`);
  return {
    family,
    source: view.getUint16(2),
    waited: view.getUint32(4),
    id: (view.getBigUint64(8) << 64n) | view.getBigUint64(16),
  };
}

/** The node and the time of an id from a lease; `undefined` for other ids. */
export function momentOf({ family, id }: SoakRecord): { node: number; time: number } | undefined {
  if (family === 'flake') return { node: nodeOf(id), time: timeOf(id) };
  // Bytes 4 and 5 are the process id, bytes 10 to 15 the time.
  if (family === 'locality')
    return { node: Number((id >> 80n) & 0xffffn), time: Number(id & 0xffff_ffff_ffffn) };
  if (family === 'uuid7') return { node: Number(id & 0xffffn), time: Number(id >> 80n) };
  return undefined;
}

/**
 * The bucket of an id. Equal ids have equal buckets, because only the id itself decides: the minute that the id says, or the
 * range of numbers that it lies in.
 */
export function bucketOf(record: SoakRecord): number {
  if (record.family === 'sequence') return Number(record.id / SEQUENCE_BUCKET);
  const time = momentOf(record)?.time ?? Number(record.id >> 16n);
  return Math.floor(time / MINUTE);
}
