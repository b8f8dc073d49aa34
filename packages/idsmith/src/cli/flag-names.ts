import { InvalidOptionError } from '../errors.js';
import type { Flags } from './command.js';

/**
 * The error with the name of the flag that the user has typed, where the library names its own option: `--block-size must be …` and not
 * `blockSize must be …`. Every other error stays as it is.
 */
export function withFlagName(error: unknown, flags: Flags): unknown {
  if (!(error instanceof InvalidOptionError)) return error;
  const [, option = '', rest] = /^([a-z][A-Za-z]*)( must .*)$/s.exec(error.message) ?? [];
  const flag = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (!Object.hasOwn(flags, flag)) return error;
  return new InvalidOptionError(`--${flag}${rest}`, { cause: error });
}
