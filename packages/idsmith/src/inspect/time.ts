import { type Candidate, candidate, type InspectedFamily, RANKS, type Reading, UNLIKELY } from './reading.js';

/** A day: clocks may differ by up to a day. */
export const DAY = 86_400_000;
/** Ids with times before 1990 or from 2100 on are hardly what they seem. */
const EARLIEST = Date.UTC(1990);
const LATEST = Date.UTC(2100);

/** A time as Unix milliseconds, as readable text and in ISO 8601. */
export function timeFields(timestamp: number): { timestamp: number; utc: string; iso: string } {
  const iso = new Date(timestamp).toISOString();
  return { timestamp, utc: `${iso.slice(0, -1).replace('T', ' ')} UTC`, iso };
}

/**
 * A reading with a time. A time in the future is a doubt, and a time before 1990 or after 2100 a greater one: the reading then
 * ranks below others, and its reason tells why.
 */
export function timedCandidate(
  family: InspectedFamily,
  reason: string,
  fields: Reading['fields'],
  timestamp: number,
  now: number,
): Candidate {
  const isOdd = timestamp < EARLIEST || timestamp >= LATEST;
  const isAhead = timestamp >= now + DAY;
  const doubt = isOdd
    ? '; but its time is not between 1990 and 2100'
    : isAhead
      ? '; but its time is in the future'
      : '';
  const rank = RANKS[family] + (isOdd ? UNLIKELY : isAhead ? UNLIKELY / 2 : 0);
  return candidate(family, reason + doubt, { ...fields, ...timeFields(timestamp) }, rank);
}
