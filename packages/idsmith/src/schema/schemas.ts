import { MAX_INT64, MAX_UINT64, MIN_INT64, readInt64 } from '../encoding/int64.js';
import { readUuidText, writeUuidText } from '../encoding/uuid-text.js';
import { InvalidIdError } from '../errors.js';
import { type Layout, requireLayout } from '../flake/layout.js';
import { readKey } from '../inspect/key-codec.js';
import { refuse, requireChoice, requireInteger, requireKnown, show } from '../options.js';
import { type StandardSchema, standardSchema } from '../support/standard-schema.js';
import { headOf, requireTypeId, type TypeIdText } from '../typeid/form.js';

/** The default epoch of sharded keys. */
const KEY_EPOCH = 1_325_404_800_000;

/**
 * A validator of flakes: a bigint or decimal text that the layout can hold. The value is a bigint.
 *
 * @param options `layout`: default any number from 0 to 2^64 − 1
 */
export function flakeSchema(
  options: { layout?: Layout | undefined } = {},
): StandardSchema<bigint | string, bigint> {
  const { layout } = requireKnown('options', options, ['layout']);
  if (layout !== undefined) requireLayout(layout);
  return standardSchema((value) => {
    const id = wholeNumber(value, 0n, MAX_UINT64, 'a flake');
    layout?.decode(id);
    return id;
  });
}

/**
 * A validator of sequence numbers: a bigint or decimal text. The value is a bigint.
 *
 * @param options `min` and `max`: default the signed 64-bit range
 */
export function sequenceSchema(
  options: { min?: bigint | undefined; max?: bigint | undefined } = {},
): StandardSchema<bigint | string, bigint> {
  const { min = MIN_INT64, max = MAX_INT64 } = requireKnown('options', options, ['min', 'max']);
  for (const [name, bound] of Object.entries({ min, max }))
    if (typeof bound !== 'bigint') refuse(name, 'a bigint', bound);
  return standardSchema((value) => wholeNumber(value, min, max, 'a sequence number'));
}

/**
 * A validator of locality UUIDs, of either case. The value is the text in lower case.
 *
 * @param options `format`: `'locality'` (default) for version b, `'rfc9562'` for version 8
 */
export function localitySchema(
  options: { format?: 'locality' | 'rfc9562' | undefined } = {},
): StandardSchema<string, string> {
  const { format } = requireKnown('options', options, ['format']);
  const isStandard = requireChoice('format', format, ['locality', 'rfc9562']) === 'rfc9562';
  return standardSchema((value) => uuidOfVersion(value, isStandard ? 8 : 0xb, 'a locality UUID', isStandard));
}

/** A validator of UUIDs of version 7, of either case. The value is the text in lower case. */
export function uuid7Schema(): StandardSchema<string, string> {
  return standardSchema((value) => uuidOfVersion(value, 7, 'a UUID of version 7', true));
}

/**
 * A validator of typed ids with one prefix. The value is the text.
 *
 * @param prefix as `typeIds` takes it
 */
export function typeIdSchema<P extends string>(prefix: P): StandardSchema<string, TypeIdText<P>> {
  const head = headOf(prefix);
  return standardSchema((value) => {
    requireTypeId(value, head);
    return value as TypeIdText<P>;
  });
}

/**
 * A validator of sharded keys. The value is the text.
 *
 * @param options `epoch`: the epoch of the shard map, default 1325404800000
 */
export function keySchema(options: { epoch?: number | undefined } = {}): StandardSchema<string, string> {
  const { epoch = KEY_EPOCH } = requireKnown('options', options, ['epoch']);
  requireInteger('epoch', epoch, 0, Number.MAX_SAFE_INTEGER);
  return standardSchema((value) => {
    if (typeof value !== 'string') throw new InvalidIdError(`${show(value)} is not a sharded key`);
    readKey(value, epoch);
    return value;
  });
}

function wholeNumber(value: unknown, min: bigint, max: bigint, what: string): bigint {
  const number = readInt64(value);
  if (number !== undefined && number >= min && number <= max) return number;
  throw new InvalidIdError(
    `${show(value)} is not ${what}: it must be a bigint or decimal text from ${min} to ${max}`,
  );
}

function uuidOfVersion(value: unknown, version: number, what: string, isStandard: boolean): string {
  const bytes = new Uint8Array(16);
  const isUuid = typeof value === 'string' && readUuidText(value, bytes);
  const isFit =
    isUuid && (bytes[6] as number) >> 4 === version && (!isStandard || (bytes[8] as number) >> 6 === 0b10);
  if (!isFit) throw new InvalidIdError(`${show(value)} is not ${what}`);
  return writeUuidText(bytes);
}
