import { InvalidOptionError } from './errors.js';

/** Options with all defaults filled in. Unlike `Required`, also without the `undefined` that callers may give. */
export type Complete<T> = { [Name in keyof T]-?: Exclude<T[Name], undefined> };

/** A value for an error message: text is quoted, and never long. */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 60);
}

/** True if `value` has the built-in type, even when it comes from another realm (a vm context, an iframe). */
export function isA(type: 'Uint8Array' | 'SharedArrayBuffer', value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${type}]`;
}

/** @throws InvalidOptionError naming the option, the requirement and the value */
export function refuse(option: string, requirement: string, value: unknown): never {
  throw new InvalidOptionError(`${option} must be ${requirement}, not ${show(value)}`);
}

/**
 * Checks that `value` is a whole number within `[min, max]`, and returns it.
 *
 * @throws InvalidOptionError naming the option, the range and the value
 */
export function requireInteger(option: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  refuse(option, `a whole number from ${min} to ${max}`, value);
}

/**
 * Checks that `value` is one of `choices`, and returns it. The first choice is the default.
 *
 * @throws InvalidOptionError naming the option, the choices and the value
 */
export function requireChoice<T>(option: string, value: T | undefined, choices: readonly [T, ...T[]]): T {
  const chosen = value === undefined ? choices[0] : value;
  if (choices.includes(chosen)) return chosen;
  const nearest = typeof value === 'string' ? nearestName(value, choices.map(String)) : undefined;
  const hint = nearest === undefined ? '' : `; did you mean ${show(nearest)}?`;
  throw new InvalidOptionError(
    `${option} must be ${choices.map(show).join(' or ')}, not ${show(value)}${hint}`,
  );
}

/** The type of an id for each value of the option `as`. */
export interface IdForms {
  bigint: bigint;
  /** Decimal digits. JSON carries them exactly. */
  string: string;
  /** Only where no id can pass 2^53 − 1. */
  number: number;
}

/** A value of the option `as`: the type of the ids of a generator or sequence. */
export type IdForm = keyof IdForms;

/** @throws InvalidOptionError unless `as` is a form; the default is `'bigint'` */
export function requireForm<F extends IdForm>(as: F | undefined): F {
  return requireChoice<IdForm>('as', as, ['bigint', 'string', 'number']) as F;
}

/**
 * Checks that `value` has a method of this name, and returns it. The default is `fallback`.
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

/**
 * Checks that `options` is an object with known names only, and returns it.
 *
 * @param what the object's name in messages: `'options'`, `'a layout'`
 * @throws InvalidOptionError naming the unknown option and the nearest known name
 */
export function requireKnown<T extends object>(what: string, options: T, known: readonly string[]): T {
  if (typeof options !== 'object' || options === null) refuse(what, 'an object', options);
  for (const name of Object.keys(options)) if (!known.includes(name)) refuseName(what, name, known);
  return options;
}

/** @throws InvalidOptionError naming the unknown name, the nearest known name and all known names */
export function refuseName(what: string, name: unknown, known: readonly string[]): never {
  throw new InvalidOptionError(`${what}: unknown name ${show(name)}${knownNames(name, known)}`);
}

/** The end of a message about an unknown name: the nearest known name, and all known names. */
export function knownNames(name: unknown, known: readonly string[]): string {
  const nearest = typeof name === 'string' ? nearestName(name, known) : undefined;
  const hint = nearest === undefined ? '' : `; did you mean ${show(nearest)}?`;
  return `${hint} (known: ${known.join(', ')})`;
}

/** What other libraries call the node id. */
const OTHER_NAMES_OF_NODE = /^(worker|machine|datacenter|node|process|shard)_?id$/;

/** The known name nearest to `name`, if one is close enough: one error in three letters, and at most three. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const typed = name.toLowerCase();
  if (OTHER_NAMES_OF_NODE.test(typed) && known.includes('node')) return 'node';
  for (const errors of [0, 1, 2, 3])
    for (const each of known)
      if (errors <= Math.max(1, each.length / 3) && isTypedAs(typed, each.toLowerCase(), errors)) return each;
  return undefined;
}

/** True if adding, dropping, changing or swapping letters `errors` times at most turns one name into the other. */
function isTypedAs(a: string, b: string, errors: number): boolean {
  if (Math.abs(a.length - b.length) > errors) return false;
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  if (i === a.length) return true;
  const go = (skipA: number, skipB: number) => isTypedAs(a.slice(i + skipA), b.slice(i + skipB), errors - 1);
  const isSwap = a[i] === b[i + 1] && a[i + 1] === b[i];
  return errors > 0 && (go(1, 1) || go(1, 0) || go(0, 1) || (isSwap && go(2, 2)));
}
