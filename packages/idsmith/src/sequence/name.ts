import { NoSuchSequenceError } from '../errors.js';
import { refuse, show } from '../options.js';

// Other programs that share the table or the keys have trouble with quotes, braces and control characters. SQL treats 'x' and 'x '
// as equal. Half of a surrogate pair has no UTF-8 form.
const FORBIDDEN = /['"`{}\p{Cc}\p{Surrogate}]|^\s|\s$/u;

/**
 * `name` if every store can keep it.
 *
 * @throws InvalidOptionError unless it is text of 1 to 255 characters without quotes, braces, control characters and
 * space at its ends
 */
export function requireSequenceName(name: unknown): string {
  if (typeof name === 'string' && name.length >= 1 && name.length <= 255 && !FORBIDDEN.test(name))
    return name;
  refuse(
    'the name of a sequence',
    'text of 1 to 255 characters, without quotes, braces, control characters or space at its ends',
    name,
  );
}

// What people cannot see or cannot tell apart: format characters (zero width, bidirectional), blanks other than the space, fillers
// and variation selectors. URLs cannot have the segments "." and "..".
const CONFUSING = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[^\P{Zs} ]/gu;

/** True for a name that no new sequence may have. Sequences that have such a name stay usable. */
export function isConfusing(name: string): boolean {
  return name === '.' || name === '..' || name.search(CONFUSING) >= 0;
}

/** @throws InvalidOptionError that shows the characters of the name that cannot be seen */
export function refuseConfusing(name: string): never {
  const visible = name.replace(CONFUSING, (part) => `<U+${hex(part.codePointAt(0) as number)}>`);
  const rule = 'without invisible and bidirectional characters, and not "." or ".."';
  refuse('the name of a new sequence', `text ${rule}`, visible);
}

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');

const UNUSABLE = /[\p{Cc}\p{Surrogate}]/u;

/**
 * `name` if a sequence may be stored under it. Other programs give their rows names that `define` refuses.
 *
 * @throws InvalidOptionError unless it is text of 1 to 255 characters without control characters
 */
export function requireStoredName(name: unknown): string {
  if (typeof name === 'string' && name.length >= 1 && name.length <= 255 && !UNUSABLE.test(name)) return name;
  refuse('the name of a sequence', 'text of 1 to 255 characters, without control characters', name);
}

/** The beginning of the names of the rows that count the numbers of series. */
export const COUNTER_PREFIX = 'series:';

/** True for the name of a row that belongs to a series. Such a row is no sequence for the commands and routes of sequences. */
export const isCounter = (name: string) => name.startsWith(COUNTER_PREFIX);

/**
 * `name` if it is not the name of a row that belongs to a series.
 *
 * @param instead where the series are shown
 * @throws NoSuchSequenceError
 */
export function requireNoCounter(name: string, instead: string): string {
  if (!isCounter(name)) return name;
  throw new NoSuchSequenceError(
    `${show(name)} counts the numbers of a series, and is no sequence: its numbers could repeat or be skipped. ${instead}`,
  );
}
