/** The families of ids that {@link inspect} reads. `'uuid'` is a UUID of another version than the locality ones. */
export type InspectedFamily =
  | 'locality'
  | 'uuid'
  | 'flake'
  | 'key'
  | 'public'
  | 'typeid'
  | 'ulid'
  | 'ksuid'
  | 'objectid'
  | 'xid'
  | 'sequence'
  | 'nanoid';

/** One way to read an id: its family and its fields. */
export interface Reading {
  readonly family: InspectedFamily;
  /** The reason for this reading, and against it if there is one. */
  readonly reason: string;
  /** The fields by name, in the order to show them. A reading with a time has `timestamp`, `utc` and `iso`. */
  readonly fields: Readonly<Record<string, string | number>>;
}

/** A reading, and how much speaks for it: the lower, the better. */
export interface RankedReading extends Reading {
  readonly rank: number;
}

/**
 * The rank by the shape of the text alone: exact shapes first, then shapes that other text may have, too. Numbers and random
 * text come last.
 */
export const RANKS: Readonly<Record<InspectedFamily, number>> = {
  locality: 1,
  public: 2,
  typeid: 3,
  uuid: 4,
  flake: 5,
  ksuid: 6,
  ulid: 6,
  objectid: 7,
  xid: 7,
  key: 8,
  sequence: 9,
  nanoid: 10,
};

/** The rank of a reading whose time is hardly that of an id: below all readings without this fault. */
export const UNLIKELY = 100;

/** A reading with the rank of its family. */
export function ranked(
  family: InspectedFamily,
  reason: string,
  fields: Reading['fields'],
  rank = RANKS[family],
): RankedReading {
  return { family, reason, fields, rank };
}

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
export function rankedByTime(
  family: InspectedFamily,
  reason: string,
  fields: Reading['fields'],
  timestamp: number,
  now: number,
): RankedReading {
  const isOdd = timestamp < EARLIEST || timestamp >= LATEST;
  const isAhead = timestamp >= now + DAY;
  const doubt = isOdd
    ? '; but its time is not between 1990 and 2100'
    : isAhead
      ? '; but its time is in the future'
      : '';
  const rank = RANKS[family] + (isOdd ? UNLIKELY : isAhead ? UNLIKELY / 2 : 0);
  return ranked(family, reason + doubt, { ...fields, ...timeFields(timestamp) }, rank);
}
