import { InvalidIdError, InvalidOptionError } from '../errors.js';
import { refuse, show } from '../options.js';
import { ID_LENGTH, Sheet } from './forms.js';
import { MAX_MS } from './layout.js';
import { claimRun } from './process-line.js';

/** Ids on a sheet of text. An id that the caller keeps holds its sheet in memory: 64 ids are 2.3 kB. */
const SHEET = 64;
/** The characters of the time with its hyphen. */
const TIME_LENGTH = 13;

const sheet = /* @__PURE__ */ new Sheet(SHEET);

// Text of ids printed ahead for the clock reading `reading`. The characters from `at` to `end` are unused.
let reading = -1;
let text = '';
let at = 0;
let end = 0;

/** @param index set where an array calls this function with its elements */
function next(given?: unknown, index?: unknown): string {
  if (given !== undefined && index === undefined)
    throw new InvalidOptionError(
      `uuid7() takes no argument, not ${show(given)}: typeIds(prefix) of idsmith/typeid makes ids with a prefix`,
    );
  const now = Date.now();
  if (now !== reading || at >= end) printAhead(now);
  at += ID_LENGTH;
  return text.substring(at - ID_LENGTH, at);
}

/** Prints one id for a new clock reading. While calls come with the same reading, prints twice as many each time. */
function printAhead(now: number): void {
  const count = now === reading ? Math.min((2 * end) / ID_LENGTH, SHEET) : 1;
  const { run, words, first } = claimRun(now, count);
  text = sheet.print(run, count, words, first);
  reading = now;
  at = 0;
  end = count * ID_LENGTH;
}

/** A function that makes UUIDs of version 7, with others that read them and make bounds. */
export interface Uuid7 {
  /**
   * The next UUID of version 7 (RFC 9562), 36 characters in lower case. Each is larger than all that this function made before
   * in this thread.
   *
   * @throws ClockError when the clock gives no time, or ids would run more than 10 seconds ahead of the clock
   */
  (): string;
  /**
   * A valid UUID of version 7 of that millisecond, to give old rows an id. Its other 74 bits are random: ids of one millisecond
   * have no order.
   *
   * @throws InvalidOptionError when `time` is not a date or a number of Unix milliseconds from 0 to 2^48 − 1
   */
  at(time: Date | number): string;
  /** The lowest UUID of version 7 of that millisecond, for `id >= …`. Errors as {@link at} has them. */
  min(time: Date | number): string;
  /** The highest UUID of version 7 of that millisecond, for `id <= …`. Errors as {@link at} has them. */
  max(time: Date | number): string;
  /**
   * The time of a UUID of version 7, of either case.
   *
   * @throws InvalidIdError when `text` is not a UUID of version 7
   */
  timeOf(text: string): Date;
}

/**
 * Makes UUIDs of version 7, one a call: `uuid7()`.
 *
 * @example
 * uuid7(); // '019a8b1e-5c20-7d3f-9a41-6b0c2f7e8d15'
 * uuid7.min(new Date('2026-01-01')); // '019b76da-a800-7000-8000-000000000000'
 */
export const uuid7: Uuid7 = /* @__PURE__ */ Object.assign(next, {
  // The random part of the next id: it never comes twice, and nobody computes it from its neighbours.
  at: (time: Date | number): string => timeText(time) + next().slice(TIME_LENGTH),
  min: (time: Date | number): string => `${timeText(time)}-7000-8000-000000000000`,
  max: (time: Date | number): string => `${timeText(time)}-7fff-bfff-ffffffffffff`,
  timeOf(id: string): Date {
    if (
      typeof id !== 'string' ||
      !/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.test(id)
    )
      throw new InvalidIdError(`${show(id)} is not a UUID of version 7`);
    return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
  },
});

/** The first 13 characters of the ids of a millisecond: `019b76da-a800`. */
function timeText(time: Date | number): string {
  const ms: unknown = time?.valueOf();
  if (typeof ms !== 'number' || !(ms >= 0 && ms < MAX_MS + 1))
    refuse('time', `a Date or Unix milliseconds from 0 to ${MAX_MS}`, time);
  const digits = Math.floor(ms).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
