import { InvalidOptionError } from 'idsmith';

/**
 * Checks a setting, which is text from a flag or variable, or any JSON value from a file.
 *
 * @param where the user's name for the setting: `--port`, `IDSMITH_PORT` or `port in idsmith.config.json`
 */
export type Reader<T> = (where: string, value: unknown) => T;

/** @throws InvalidOptionError with the requirement and the value */
function refuse(where: string, requirement: string, value: unknown): never {
  const shown = typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value);
  throw new InvalidOptionError(`${where} must be ${requirement}, not ${shown?.slice(0, 60)}`);
}

export function integer(min: number, max: number): Reader<number> {
  return (where, value) => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (Number.isInteger(number) && (number as number) >= min && (number as number) <= max)
      return number as number;
    refuse(where, `a whole number from ${min} to ${max}`, value);
  };
}

/** @param requirement a description of the text, for the error message */
export function text(requirement: string, pattern = /^[^\0]{1,1000}$/): Reader<string> {
  return (where, value) => {
    if (typeof value === 'string' && pattern.test(value)) return value;
    // The value is not shown: it may be a URL with a password.
    throw new InvalidOptionError(`${where} must be ${requirement}`);
  };
}

export function choice<T extends string>(choices: readonly T[]): Reader<T> {
  return (where, value) => {
    if (choices.includes(value as T)) return value as T;
    refuse(where, choices.map((each) => JSON.stringify(each)).join(' or '), value);
  };
}

/** Reads the origin of a site: scheme, host and port. */
export const origin: Reader<string> = (where, value) => {
  const url = typeof value === 'string' && /^https?:\/\/[^\s/?#@]+\/?$/i.test(value) && URL.canParse(value);
  if (url) return new URL(value).origin;
  refuse(where, 'the origin of a site, such as https://ids.example.com', value);
};
