import { readKey } from '../shard/keys/codec.js';
import type { Reading } from './reading.js';
import { timeFields } from './time.js';

/** The default epoch of keys. */
const EPOCH = 1_325_404_800_000;

/** A day: the first day of keys looks like words, and clocks may differ by up to a day. */
const DAY = 86_400_000;

/**
 * Reads an id as a sharded key with the default epoch: a key minted after the first day, whose keys look like words, and
 * before now; or a special key, which has the variant 0 and a name.
 */
export function readShardKey(text: string, now: number): Reading[] {
  try {
    const { ms, variant, type, suffix } = readKey(text.trim(), EPOCH);
    const timestamp = EPOCH + ms;
    const isSpecial = variant === 0 && /^[0-9A-Za-z]+$/.test(suffix);
    const isMinted = ms > DAY && timestamp < now + DAY;
    if (!isMinted && !isSpecial) return [];
    const parts = { ms, variant, type, ...(suffix !== '' && { suffix }) };
    return [{ family: 'key', fields: isMinted ? { ...parts, ...timeFields(timestamp) } : parts }];
  } catch {
    return [];
  }
}
