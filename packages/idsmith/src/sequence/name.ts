import { refuse } from '../options.js';

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
