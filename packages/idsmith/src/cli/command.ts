import { parseArgs } from 'node:util';
import { requireInteger } from '../options.js';

/** A flag of a command, as `--help` shows it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The name of the value in the help, the N of `--count N`. */
  readonly value?: string;
  readonly help: string;
}

/** The arguments of the user. */
export interface Given {
  /** The text of a string flag. */
  readonly text: (flag: string) => string | undefined;
  /** True if a boolean flag is given. */
  readonly on: (flag: string) => boolean;
  /** The other arguments, in order. */
  readonly rest: readonly string[];
}

/** A command of `idsmith`, such as `idsmith flake`. */
export interface Command {
  readonly name: string;
  /** The text after the name in the usage line. */
  readonly usage: string;
  readonly summary: string;
  readonly example: string;
  /** The flags by name, besides `--json` and `--help`. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** The lines for standard output, made one by one as they are written. */
  run(given: Given): Iterable<string> | AsyncIterable<string>;
}

/** The arguments are wrong: exit code 2. */
export class UsageError extends Error {}

const COMMON_FLAGS: Command['flags'] = {
  json: { type: 'boolean', help: 'print JSON' },
  help: { type: 'boolean', short: 'h', help: 'print this help' },
};

/** @throws UsageError for unknown flags and missing values */
export function readArguments(command: Command, args: readonly string[]): Given {
  const options = Object.fromEntries(
    Object.entries({ ...command.flags, ...COMMON_FLAGS }).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: withSigns(args), options, allowPositionals: true });
    return {
      text: (flag) => (typeof values[flag] === 'string' ? values[flag] : undefined),
      on: (flag) => values[flag] === true,
      rest: positionals,
    };
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

/** Turns `--step -1` into `--step=-1`, because an argument with a dash would be read as a flag. */
function withSigns(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    if (/^-\d/.test(arg) && before !== undefined && /^--[a-z-]+$/.test(before))
      joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** The count given with `-n`, or its default. */
export function readCount(given: Given, fallback: number): number {
  return readInteger(given, 'count', 1, 999_999_999_999_999) ?? fallback;
}

/** The whole number of a flag; `undefined` if the flag is not given. */
export function readInteger(given: Given, flag: string, min: number, max: number): number | undefined {
  const text = given.text(flag);
  if (text === undefined) return undefined;
  return requireInteger(`--${flag}`, /^\d{1,15}$/.test(text) ? Number(text) : text, min, max);
}

/** The help of one command. */
export function describe(command: Command): string[] {
  const flags = Object.entries({ ...command.flags, ...COMMON_FLAGS }).map(([name, flag]) => {
    const short = flag.short === undefined ? '    ' : `-${flag.short}, `;
    return `  ${`${short}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`.padEnd(23)} ${flag.help}`;
  });
  return [
    `${command.summary}.`,
    '',
    `Usage: idsmith ${`${command.name} ${command.usage}`.trim()}`,
    '',
    ...flags,
    '',
    `Example: ${command.example}`,
  ];
}
