import { IdError, InvalidOptionError, StoreError } from '../errors.js';
import { type Flags, Interrupted, NegativeVerdict, UsageError } from './command.js';
import { visible } from './text.js';

/** How a command has failed: for standard error, for `--json` and for the shell. */
export interface Failure {
  /** One sentence; empty if there is nothing to say. */
  readonly message: string;
  readonly json: { readonly code: string; readonly reason?: string; readonly message: string };
  readonly exitCode: number;
}

/** An error in the middle of JSON that is being written: the `cause`. */
export class UnfinishedJson extends Error {
  /** The line that completes the JSON. It tells the error. */
  readonly end: string;

  constructor(cause: unknown, end: string) {
    super('the JSON is not finished', { cause });
    this.end = end;
  }
}

/** The codes of errors about what the user has typed. */
const TYPED = ['INVALID_OPTION', 'INVALID_ID'];

/** The failure of an error. The exit code is 2 for wrong arguments, 128 and the signal's number for a signal, 1 otherwise. */
export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) return failure('USAGE', error.message, 2);
  if (error instanceof Interrupted) return failure('INTERRUPTED', error.message, error.exitCode);
  if (error instanceof NegativeVerdict) return failure('NEGATIVE', error.message, error.exitCode);
  if (error instanceof IdError)
    return failure(
      error.code,
      error.message,
      TYPED.includes(error.code) ? 2 : 1,
      error instanceof StoreError ? error.reason : undefined,
    );
  return failure('UNEXPECTED', String(error), 1);
}

function failure(code: string, text: string, exitCode: number, reason?: string): Failure {
  // A driver's message may have several lines.
  const message = visible(text.replace(/\s*[\r\n]\s*/g, ' '));
  return { message, json: { code, ...(reason !== undefined && { reason }), message: text }, exitCode };
}

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
