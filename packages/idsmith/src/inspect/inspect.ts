import { InvalidIdError } from '../errors.js';
import { show } from '../options.js';
import { readFlake } from './flake.js';
import { readShardKey } from './key.js';
import type { Reading } from './reading.js';
import { readUuid } from './uuid.js';

/**
 * What an id of any family says: every reading that fits, best first.
 *
 * @throws InvalidIdError when none fits
 */
export function inspect(id: string, now = Date.now()): Reading[] {
  const readings =
    typeof id === 'string' ? [...readUuid(id), ...readFlake(id, now), ...readShardKey(id, now)] : [];
  if (readings.length === 0) throw new InvalidIdError(`${show(id)} is not an id of any family`);
  return readings;
}
