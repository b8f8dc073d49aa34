import type { Readable, Writable } from 'node:stream';
import type { Activity } from './activity.js';

/** The standard streams and the environment of a run. `process` is one. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A flag of a command, as `--help` shows it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The name of the value in the help, the N of `--count N`. */
  readonly value?: string;
  readonly help: string;
}

/** The flags of a command by name. */
export type Flags = Readonly<Record<string, Flag>>;

/** The arguments of the user. */
export interface Arguments {
  /** The text of a string flag. */
  readonly text: (flag: string) => string | undefined;
  /** True if a boolean flag is given. */
  readonly on: (flag: string) => boolean;
  /** The other arguments, in order. */
  readonly rest: readonly string[];
}

/** The arguments of the user, and the run of the command. */
export interface Given extends Arguments {
  /** Aborted when the user presses Ctrl-C. Its reason is an {@link Interrupted}. */
  readonly signal: AbortSignal;
  /** Tells the user on standard error what the command does and waits for. */
  readonly activity: Activity;
  readonly io: Io;
}

/** A command of `idsmith`, such as `idsmith flake` or `idsmith seq define`. */
export interface Command {
  /** The words after `idsmith`. */
  readonly name: string;
  /** The text after the name in the usage line. */
  readonly usage: string;
  readonly summary: string;
  readonly example: string;
  /** The flags by name, besides `--json` and `--help`. */
  readonly flags: Flags;
  /** The most arguments that are not flags. Default 0. */
  readonly operands?: number;
  /** The time that the command has after Ctrl-C to release what it holds, ms. Default 5,000. */
  readonly grace?: number;
  /** True if the command handles SIGINT and SIGTERM itself. Default: the command line stops the command. */
  readonly handlesSignals?: boolean;
  /** The lines for standard output, made one by one as they are written. */
  run(given: Given): Iterable<string> | AsyncIterable<string>;
}

/** Commands with a common first word, such as `idsmith seq`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  /** The commands, with names like `seq define`. */
  readonly commands: readonly Command[];
}

/** The arguments are wrong: exit code 2. */
export class UsageError extends Error {}

/** The output is complete and its verdict is negative, for example "nothing fits". The message may be empty. */
export class NegativeVerdict extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A signal has stopped the command. The message may be empty. */
export class Interrupted extends Error {
  readonly exitCode: number;

  /** @param exitCode 128 and the number of the signal, as shells have it; default that of SIGINT */
  constructor(message = '', exitCode = 130) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The flags of every command. */
export const COMMON_FLAGS: Flags = {
  json: { type: 'boolean', help: 'print JSON' },
  help: { type: 'boolean', short: 'h', help: 'print this help' },
};
