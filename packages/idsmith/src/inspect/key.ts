import { readKey } from '../shard/keys/codec.js';
import { type Candidate, candidate } from './reading.js';
import { DAY, timeFields } from './time.js';

/** The default epoch of keys. */
const EPOCH = 1_325_404_800_000;

/**
 * Reads an id as a sharded key with the default epoch: a key minted after the first day, whose keys look like words, and
 * before now; or a special key, which has the variant 0 and a name.
 */
export function readShardKey(text: string, now: number): Candidate[] {
  try {
    const { ms, variant, type, suffix } = readKey(text, EPOCH);
    const timestamp = EPOCH + ms;
    const isSpecial = variant === 0 && /^[0-9A-Za-z]+$/.test(suffix);
    const isMinted = ms > DAY && timestamp < now + DAY;
    if (!isMinted && !isSpecial) return [];
    const parts = { ms, variant, type, ...(suffix !== '' && { suffix }) };
    return [
      isMinted
        ? candidate('key', 'base 62 with a plausible time: a sharded key', {
            ...parts,
            ...timeFields(timestamp),
          })
        : candidate('key', 'base 62 with variant 0 and a name: a special key', parts),
    ];
  } catch {
    return [];
  }
}
