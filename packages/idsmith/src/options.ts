import { InvalidOptionError } from './errors.js';

/** A value as an error message should show it: quoted if it is text, and never long. */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 60);
}

/** Whether `value` is of that built-in type, also when it comes from another realm (a vm context, an iframe). */
export function isA(type: 'Uint8Array' | 'SharedArrayBuffer', value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${type}]`;
}

/** @throws InvalidOptionError saying what `option` must be, and that `value` is not */
export function refuse(option: string, requirement: string, value: unknown): never {
  throw new InvalidOptionError(`${option} must be ${requirement}, not ${show(value)}`);
}

/**
 * `value` if it is a whole number within `[min, max]`.
 *
 * @throws InvalidOptionError naming the option, the range and the value
 */
export function requireInteger(option: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  refuse(option, `a whole number from ${min} to ${max}`, value);
}

/**
 * `value` if it is one of `choices`; the first of them if it is left out.
 *
 * @throws InvalidOptionError naming the option, the choices and the value
 */
export function requireChoice<T>(option: string, value: T | undefined, choices: readonly [T, ...T[]]): T {
  const chosen = value === undefined ? choices[0] : value;
  if (choices.includes(chosen)) return chosen;
  refuse(option, choices.map(show).join(' or '), value);
}

/**
 * `value` if it has a method of that name; `fallback` if it is left out.
 *
 * @throws InvalidOptionError naming the option, the method and the value
 */
export function requireMethod<T>(
  option: string,
  method: keyof T & string,
  value: T | undefined,
  fallback: T,
): T {
  if (value === undefined) return fallback;
  if (typeof value?.[method] === 'function') return value;
  refuse(option, `an object with a method ${method}()`, value);
}
