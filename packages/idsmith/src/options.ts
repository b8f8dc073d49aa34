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

/** @throws InvalidOptionError when `share()` is not possible in this runtime */
export function requireSharedMemory(): void {
  if (typeof SharedArrayBuffer !== 'undefined') return;
  throw new InvalidOptionError(
    'share() needs SharedArrayBuffer, which this runtime does not have; in a browser, serve the page cross-origin isolated',
  );
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

/** The known name nearest to `name`, if one is close enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((candidate) => ({ candidate, steps: typingErrors(name, candidate) }));
  const [best] = distances.sort((a, b) => a.steps - b.steps);
  return best && best.steps <= Math.max(1, Math.floor(best.candidate.length / 3))
    ? best.candidate
    : undefined;
}

/** The number of letters to add, drop, change or swap that turns one name into the other, ignoring case. */
function typingErrors(from: string, to: string): number {
  const a = from.toLowerCase();
  const b = to.toLowerCase();
  // Row i of the table holds the errors between the first i letters of `a` and every beginning of `b`.
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (rows[i - 1]?.[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const dropped = (rows[i - 1]?.[j] as number) + 1;
      const added = (row[j - 1] as number) + 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (rows[i - 2]?.[j - 2] as number) + 1 : changed;
      row.push(Math.min(changed, dropped, added, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] as number;
}
