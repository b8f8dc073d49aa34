import { InvalidIdError } from '../errors.js';
import { requireKnown, show } from '../options.js';
import { readFlake } from './flake.js';
import { readShardKey } from './key.js';
import type { Reading } from './reading.js';
import { readUuid } from './uuid.js';

/** The options of {@link inspect}. */
export interface InspectOptions {
  /** Unix milliseconds: readings with a later time do not fit. Default the present time. */
  now?: number;
}

/**
 * Reads an id of any family. The same text may fit several families: the result has all readings that fit, best first.
 *
 * @example
 * inspect('1jyVFw3401'); // [{ family: 'key', fields: { ms: 1595487784, variant: 190, type: 1, … } }]
 *
 * @throws InvalidIdError when `text` fits no family
 * @throws InvalidOptionError naming an unknown option
 */
export function inspect(text: string, options: InspectOptions = {}): Reading[] {
  const { now = Date.now() } = requireKnown('options', options, ['now']);
  const readings =
    typeof text === 'string' ? [...readUuid(text), ...readFlake(text, now), ...readShardKey(text, now)] : [];
  if (readings.length === 0) throw new InvalidIdError(`${show(text)} is not an id of any family`);
  return readings;
}
