import type { LeaseJson } from '../api/types.js';

/** The last time with a year of four digits, Unix ms. No sound record has a later one. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The reason why the record of a node id cannot be drawn; `undefined` for a sound record. Any program with a lease token can
 * write records, and one odd record must not hide the others.
 */
export function oddityOf({ epoch, fence, expiresAt, label }: LeaseJson): string | undefined {
  if (!isTime(fence)) return `its fence ${fence} is not a time before the year 10000`;
  if (!isTime(expiresAt)) return `its expiry ${expiresAt} is not a time before the year 10000`;
  if (!Number.isSafeInteger(epoch)) return `its number of holders ${epoch} is not a whole number`;
  if (typeof label !== 'string') return 'its label is not text';
  return undefined;
}

const isTime = (ms: number) => Number.isFinite(ms) && ms >= 0 && ms <= LAST_TIME;
