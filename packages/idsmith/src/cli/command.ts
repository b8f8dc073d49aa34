import { parseArgs } from 'node:util';
import { requireInteger } from '../options.js';

/** A flag of a command, as `--help` shows it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What the value is called in the help: `--count N`. */
  readonly value?: string;
  readonly help: string;
}

type Flags = Record<string, Flag>;

/** What the user gave: every string flag as text, every boolean flag as true, and the rest in order. */
export interface Given {
  readonly text: (flag: string) => string | undefined;
  readonly on: (flag: string) => boolean;
  readonly rest: readonly string[];
}

/** One word after `idsmith`. */
export interface Command {
  readonly name: string;
  /** What follows the name in the usage line. */
  readonly usage: string;
  readonly summary: string;
  readonly example: string;
  readonly flags: Flags;
  /** Lines for standard output, produced as they are consumed. */
  run(given: Given): Iterable<string> | AsyncIterable<string>;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {}

const COMMON_FLAGS: Flags = {
  json: { type: 'boolean', help: 'structured output' },
  help: { type: 'boolean', short: 'h', help: 'this text' },
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

/** `--step -1` as `--step=-1`: what begins with a dash would otherwise be a flag. */
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

/** A whole number given with a flag, `undefined` if it was not given. */
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
