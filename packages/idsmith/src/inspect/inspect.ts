import { InvalidIdError } from '../errors.js';
import { refuse, requireKnown, show } from '../options.js';
import { readKsuid, readNanoid, readObjectId, readTypeId, readUlid, readXid } from './foreign-ids.js';
import { type PublicIdReader, readFlake, readPublicId, readSequenceNumber, readShardKey } from './own-ids.js';
import type { Reading } from './reading.js';
import { readUuid } from './uuid.js';

/** The longest text that is looked at. No id is longer. */
const MAX_LENGTH = 1000;

/** The options of {@link inspect}. */
export interface InspectOptions {
  /** The present time, Unix milliseconds: later times speak against a reading. Default the clock. */
  now?: number | undefined;
  /** What `publicIds` returned, one or several: public ids of their keys show the id inside. */
  publicIds?: PublicIdReader | readonly PublicIdReader[] | undefined;
}

/**
 * Reads an id of any kind. The same text may fit several kinds: the result has all readings that fit, best first, each with
 * its reason. Text that fits none has no readings.
 *
 * @example
 * inspect('1jyVFw3401'); // [{ family: 'key', reason: '…', fields: { ms: 1595487784, variant: 190, type: 1, … } }]
 *
 * @throws InvalidIdError when `text` is not text; never for any text
 * @throws InvalidOptionError naming an option that is unknown or wrong
 */
export function inspect(text: string, options: InspectOptions = {}): Reading[] {
  const { now = Date.now(), publicIds = [] } = requireKnown('options', options, ['now', 'publicIds']);
  if (typeof now !== 'number' || !Number.isFinite(now)) refuse('now', 'a time in Unix milliseconds', now);
  if (typeof text !== 'string') throw new InvalidIdError(`${show(text)} is not text`);
  if (text.length > MAX_LENGTH) return [];
  const id = text.trim();
  const readings = [
    ...readPublicId(id, [publicIds].flat()),
    ...readUuid(id, now),
    ...readTypeId(id, now),
    ...readFlake(id, now),
    ...readKsuid(id, now),
    ...readUlid(id, now),
    ...readObjectId(id, now),
    ...readXid(id, now),
    ...readShardKey(id, now),
    ...readSequenceNumber(id),
    ...readNanoid(id),
  ];
  return readings
    .sort((a, b) => a.rank - b.rank)
    .map(({ family, reason, fields }) => ({ family, reason, fields }));
}

/**
 * The readings of an id, one at least.
 *
 * @throws InvalidIdError when `text` fits no family; other errors as {@link inspect} does
 */
export function requireReadings(text: string, options: InspectOptions = {}): Reading[] {
  const readings = inspect(text, options);
  if (readings.length === 0) throw new InvalidIdError(`${show(text)} is not an id of any family`);
  return readings;
}
