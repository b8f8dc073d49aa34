import { InvalidOptionError } from './errors.js';

/** A value as an error message should show it: quoted, typed, and never long. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  }
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  return Array.isArray(value) ? `an array of ${value.length}` : 'an object';
}

/**
 * `value` if it is a whole number within `[min, max]`.
 *
 * @throws InvalidOptionError naming the option, the range and the value
 */
export function requireInteger(option: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidOptionError(`${option} must be a whole number from ${min} to ${max}, not ${show(value)}`);
}

/**
 * `value` if it is one of `choices`; the first of them if it is left out.
 *
 * @throws InvalidOptionError naming the option, the choices and the value
 */
export function requireChoice<T extends string>(
  option: string,
  value: unknown,
  choices: readonly [T, ...T[]],
): T {
  const chosen = value === undefined ? choices[0] : (value as T);
  if (choices.includes(chosen)) return chosen;
  throw new InvalidOptionError(`${option} must be ${choices.map(show).join(' or ')}, not ${show(value)}`);
}
