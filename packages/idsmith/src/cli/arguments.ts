import { nearestName, requireInteger } from '../options.js';
import { type Arguments, COMMON_FLAGS, type Command, type Flags, UsageError } from './command.js';

/** One argument or flag of the user, and its place. */
type Part =
  | { readonly kind: 'operand'; readonly text: string; readonly index: number }
  | { readonly kind: 'flag'; readonly name: string; readonly value: string | true };

/**
 * The words of the user as the flags and other arguments of a command.
 *
 * @throws UsageError for unknown flags, missing values and surplus arguments
 */
export function readArguments(command: Command, args: readonly string[]): Arguments {
  const values = new Map<string, string | true>();
  const rest: string[] = [];
  for (const part of parse(command.name, { ...command.flags, ...COMMON_FLAGS }, args))
    if (part.kind === 'flag') values.set(part.name, part.value);
    else rest.push(part.text);
  const surplus = rest[command.operands ?? 0];
  if (surplus !== undefined && !values.has('help'))
    throw new UsageError(`${command.name} takes no ${JSON.stringify(surplus)}`);
  return {
    text: (flag) => {
      const value = values.get(flag);
      return value === true ? undefined : value;
    },
    on: (flag) => values.get(flag) === true,
    rest,
  };
}

/** The place of the first argument that is not a flag; −1 if there is none. Flags may come first: `seq --store URL list`. */
export function firstOperand(name: string, flags: Flags, args: readonly string[]): number {
  for (const part of parse(name, { ...flags, ...COMMON_FLAGS }, args))
    if (part.kind === 'operand') return part.index;
  return -1;
}

/** Separates flags from other arguments. An argument like `-5` is a number, and everything after `--` is not a flag. */
function* parse(command: string, flags: Flags, args: readonly string[]): Iterable<Part> {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '--') {
      for (let index = i + 1; index < args.length; index++)
        yield { kind: 'operand', text: args[index] as string, index };
      return;
    }
    if (!arg.startsWith('-') || arg === '-' || /^-\d/.test(arg)) {
      yield { kind: 'operand', text: arg, index: i };
      continue;
    }
    const [name, inline] = arg.startsWith('--')
      ? splitLong(command, flags, arg)
      : splitShort(command, flags, arg);
    if (flags[name]?.type === 'boolean') {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      yield { kind: 'flag', name, value: true };
    } else yield { kind: 'flag', name, value: inline ?? valueAfter(name, flags, args[++i]) };
  }
}

/** The value of a flag in the next argument. A value with a dash must be a number, or stand behind `=`. */
function valueAfter(name: string, flags: Flags, next: string | undefined): string {
  if (next !== undefined && (!next.startsWith('-') || next === '-' || /^-\d/.test(next))) return next;
  const found = next === undefined ? '' : `, and ${JSON.stringify(next)} is a flag`;
  throw new UsageError(`--${name} needs a value${found}: --${name} ${flags[name]?.value ?? 'VALUE'}`);
}

/** The name and the value of `--name` or `--name=value`. */
function splitLong(command: string, flags: Flags, arg: string): [name: string, inline?: string] {
  const at = arg.indexOf('=');
  const name = at < 0 ? arg.slice(2) : arg.slice(2, at);
  if (!Object.hasOwn(flags, name)) throw unknownFlag(command, flags, `--${name}`, name);
  return at < 0 ? [name] : [name, arg.slice(at + 1)];
}

/** The name and the value of `-n`, `-n5` or `-n=5`. */
function splitShort(command: string, flags: Flags, arg: string): [name: string, inline?: string] {
  const [name, flag] = Object.entries(flags).find(([, { short }]) => short === arg[1]) ?? [];
  const attached = arg.slice(2).replace(/^=/, '');
  // `-name` is a long flag with one dash, not `-n` with the value "ame".
  const isValue = flag?.type === 'string' ? /^\d|^$/.test(attached) : attached === '';
  if (name === undefined || !isValue)
    throw unknownFlag(command, flags, arg.replace(/=.*/, ''), arg.slice(1).replace(/=.*/, ''));
  return attached === '' ? [name] : [name, attached];
}

function unknownFlag(command: string, flags: Flags, shown: string, name: string): UsageError {
  const nearest = nearestName(name, Object.keys(flags));
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`;
  return new UsageError(`${command} takes no ${shown}${hint}`);
}

/** The count given with `-n`, or its default. */
export function readCount(given: Arguments, fallback: number): number {
  return readInteger(given, 'count', 1, 999_999_999_999_999) ?? fallback;
}

/** The whole number of a flag; `undefined` if the flag is not given. */
export function readInteger(given: Arguments, flag: string, min: number, max: number): number | undefined {
  const text = given.text(flag);
  if (text === undefined) return undefined;
  return requireInteger(`--${flag}`, /^\d{1,15}$/.test(text) ? Number(text) : text, min, max);
}
