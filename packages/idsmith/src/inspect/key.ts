import { readKey } from '../shard/keys/codec.js';
import type { Reading } from './reading.js';
import { timeFields } from './time.js';

/** What keys count from unless a config says otherwise. */
const EPOCH = 1_325_404_800_000;

/** Clocks may differ. */
const DAY = 86_400_000;

/**
 * What an id says if it is a sharded key with the default epoch: one that was minted between its first day, in which the
 * keys would look like words, and now; or a special one, which has the variant 0 and a name.
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
