import { base62Digit } from '../encoding/base62.js';
import { MAX_INT64, MIN_INT64, readInt64 } from '../encoding/int64.js';
import { type Candidate, candidate } from './reading.js';
import { timedCandidate } from './time.js';

/** KSUIDs count seconds from 13 May 2014. */
const KSUID_EPOCH = 1_400_000_000;

/** Reads text as a KSUID: 32 bits of time and 128 random bits, as 27 digits of base 62. */
export function readKsuid(text: string, now: number): Candidate[] {
  if (!/^[0-9A-Za-z]{27}$/.test(text)) return [];
  let bits = 0n;
  for (const character of text) bits = bits * 62n + BigInt(base62Digit(character.charCodeAt(0)));
  if (bits >> 160n !== 0n) return [];
  const timestamp = (Number(bits >> 128n) + KSUID_EPOCH) * 1000;
  const payload = BigInt.asUintN(128, bits).toString(16).padStart(32, '0');
  return [timedCandidate('ksuid', '27 digits of base 62: a KSUID', { payload }, timestamp, now)];
}

/** Reads text as an ObjectId of MongoDB: seconds, five random bytes and a counter, as 24 hex digits. */
export function readObjectId(text: string, now: number): Candidate[] {
  if (!/^[\da-f]{24}$/i.test(text)) return [];
  const timestamp = Number.parseInt(text.slice(0, 8), 16) * 1000;
  const fields = { random: text.slice(8, 18).toLowerCase(), counter: Number.parseInt(text.slice(18), 16) };
  return [timedCandidate('objectid', '24 hex digits: an ObjectId', fields, timestamp, now)];
}

/** Reads text as a number of a sequence. Any whole number of 64 bits may be one. */
export function readSequenceNumber(text: string): Candidate[] {
  const value = readInt64(text);
  if (value === undefined || value < MIN_INT64 || value > MAX_INT64) return [];
  return [candidate('sequence', 'a whole number: it may come from a sequence', { value: String(value) })];
}

/** Reads text as a nanoid: 21 characters without structure. */
export function readNanoid(text: string): Candidate[] {
  if (!/^[\w-]{21}$/.test(text)) return [];
  const reason = '21 characters that a nanoid may have: no structure';
  return [candidate('nanoid', reason, { length: text.length })];
}
