import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { nearestName } from '../options.js';
import { loadPackage } from '../support/load-package.js';
import { systemTimer } from '../support/timer.js';
import { Activity } from './activity.js';
import { firstOperand, readArguments } from './arguments.js';
import {
  COMMON_FLAGS,
  type Command,
  type CommandGroup,
  Interrupted,
  type Io,
  UsageError,
} from './command.js';
import { failureOf, UnfinishedJson, withFlagName } from './failure.js';
import { helpOf, helpOfGroup, overview } from './help.js';
import { writeLines } from './output.js';
import { jsonText } from './text.js';

/**
 * A command of this package. Its modules are loaded when the command is used: loading all of them takes longer than most commands. A test
 * holds the summary equal.
 */
interface OwnCommand extends Pick<Command, 'name' | 'summary'> {
  load(): Promise<Command | CommandGroup>;
}

/** A command of another package. `idsmith --help` lists it; its package is loaded when the command is used. */
interface ExternalCommand extends Pick<Command, 'name' | 'summary'> {
  /** The package, whose entry `internal/cli` exports its `commands`. */
  readonly from: string;
  /** @throws StoreError naming the package if it is not installed */
  load(): Promise<Command | CommandGroup>;
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly (OwnCommand | ExternalCommand)[] = [
  {
    name: 'locality',
    summary: 'Mint locality UUIDs, one a line',
    load: async () => (await import('./locality.js')).localityCommand,
  },
  {
    name: 'flake',
    summary: 'Mint flakes, one a line',
    load: async () => (await import('./flake.js')).flakeCommand,
  },
  {
    name: 'uuid7',
    summary: 'Mint UUIDs of version 7, which increase, one a line',
    load: async () => (await import('./uuid7.js')).uuid7Command,
  },
  {
    name: 'typeid',
    summary: 'Mint typed ids, a prefix and a UUID of version 7, one a line',
    load: async () => (await import('./typeid.js')).typeidCommand,
  },
  {
    name: 'seq',
    summary: 'Define, use and manage sequences',
    load: async () => (await import('./seq.js')).seqCommands,
  },
  {
    name: 'series',
    summary: 'List series, such as invoice numbers, and print their next numbers',
    load: async () => (await import('./series.js')).seriesCommands,
  },
  externalCommand('@idsmith/shard', 'key', 'Mint sharded keys, one a line'),
  externalCommand(
    '@idsmith/shard',
    'reshard',
    'Move sharded keys to other nodes while applications use them',
  ),
  {
    name: 'inspect',
    summary: 'Show the fields of ids of any family: time, node, counter and so on',
    load: async () => (await import('./inspect.js')).inspectCommand,
  },
  {
    name: 'check',
    summary: 'Find repeats, order, nodes and time gaps in ids that you have',
    load: async () => (await import('./check/check.js')).checkCommand,
  },
  {
    name: 'init',
    summary: 'Say that a store is new, and make its tables',
    load: async () => (await import('./init.js')).initCommand,
  },
  {
    name: 'restored',
    summary: 'Say that a store was restored from a backup, or has lost data',
    load: async () => (await import('./restored.js')).restoredCommand,
  },
  {
    name: 'leases',
    summary: 'List the namespaces of a store, or the node ids of one and who holds them',
    load: async () => (await import('./leases.js')).leasesCommand,
  },
  externalCommand(
    '@idsmith/verify',
    'verify',
    'Try your store with processes and faults, and tell which rule it breaks',
  ),
  {
    name: 'plan',
    summary: 'Show which flake layouts fit your load, and when they run out',
    load: async () => (await import('./plan.js')).planCommand,
  },
  {
    name: 'public',
    summary: 'Turn ids into public ids and back',
    load: async () => (await import('./public.js')).publicCommands,
  },
  externalCommand('@idsmith/server', 'serve', 'Serve ids over HTTP'),
  externalCommand('@idsmith/server', 'token', 'Create, list and revoke tokens of the server'),
];

/** A command of another package. A test of that package holds name and summary equal. */
function externalCommand(from: string, name: string, summary: string): ExternalCommand {
  return { from, name, summary, load: () => loadExternal(from, name) };
}

async function loadExternal(from: string, name: string): Promise<Command | CommandGroup> {
  // Not a literal in the import: this package is built first, and works without the others.
  const entry = `${from}/internal/cli`;
  const { commands } = await loadPackage<{ readonly commands: readonly (Command | CommandGroup)[] }>(
    from,
    () => import(entry),
  );
  return commands.find((command) => command.name === name) as Command | CommandGroup;
}

/** The time that most commands have to release what they hold, ms. */
const GRACE = 5000;

const STOPPING = 'stopping: the command releases what it has taken. Ctrl-C again ends it at once';

/**
 * Keeps Node 22's remark that `node:sqlite` is experimental off standard error, where a command has its own messages. All other
 * warnings are shown.
 */
export function muteSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process) as (...details: unknown[]) => void;
  process.emitWarning = (...details: unknown[]) => {
    const [warning, type] = details;
    if (type === 'ExperimentalWarning' && String(warning).startsWith('SQLite ')) return;
    emitWarning(...details);
  };
}

/** Runs the command line with the words after `idsmith`, and returns the exit code. */
export async function run(words: readonly string[], io: Io): Promise<number> {
  // `idsmith help seq define` is `idsmith seq define --help`.
  const [word, ...args] = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  // The command has printed something. Then its JSON is complete, or an `UnfinishedJson` completes it.
  let hasOutput = false;
  try {
    if (word === '--version' || word === '-v' || word === 'version') await writeLines(io.stdout, [version()]);
    else if (word === '--help' || word === '-h' || word === 'help')
      await writeLines(io.stdout, overview(COMMANDS));
    else if (word === undefined) {
      await writeLines(io.stderr, overview(COMMANDS));
      return 2;
    } else
      await runCommand(await load(word), args, io, () => {
        hasOutput = true;
      });
    return 0;
  } catch (error) {
    return await report(error, { words, io, hasOutput });
  }
}

/** @throws UsageError naming the nearest command, or all of them */
async function load(word: string): Promise<Command | CommandGroup> {
  const listed = COMMANDS.find(({ name }) => name === word);
  if (listed !== undefined) return await listed.load();
  const names = COMMANDS.map(({ name }) => name);
  const nearest = nearestName(word, names);
  const way = nearest === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${nearest}?`;
  throw new UsageError(`unknown command ${JSON.stringify(word)}; ${way}`);
}

/** The command that the user means, and its arguments. */
interface Found {
  readonly command: Command;
  readonly args: readonly string[];
}

/**
 * The command of a group that the arguments name; `undefined` if they ask for the help of the group.
 *
 * @throws UsageError naming the commands of the group, and the nearest one
 */
export function findInGroup(group: CommandGroup, args: readonly string[]): Found | undefined {
  const flags = Object.assign({}, ...group.commands.map((command) => command.flags), COMMON_FLAGS);
  const at = firstOperand(group.name, flags, args);
  const word = args[at];
  const isHelp = args.includes('--help') || args.includes('-h');
  if (word === undefined && isHelp) return undefined;
  if (word === 'help') return findInGroup(group, [...args.slice(at + 1), '--help']);
  const command = group.commands.find(({ name }) => name === `${group.name} ${word}`);
  if (command !== undefined) return { command, args: args.toSpliced(at, 1) };
  const words = group.commands.map(({ name }) => name.slice(group.name.length + 1));
  throw new UsageError(`${group.name} needs one of ${words.join(', ')}${insteadOf(word, words)}`);
}

/** The end of a message about an unknown word: the word, and the nearest known one. */
function insteadOf(word: string | undefined, known: readonly string[]): string {
  if (word === undefined) return '';
  const nearest = nearestName(word, known);
  return `, not ${JSON.stringify(word)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

async function runCommand(
  listed: Command | CommandGroup,
  all: readonly string[],
  io: Io,
  onOutput: () => void,
): Promise<void> {
  const found = 'commands' in listed ? findInGroup(listed, all) : { command: listed, args: all };
  if (found === undefined) return await writeLines(io.stdout, helpOfGroup(listed as CommandGroup));
  const { command, args } = found;
  const given = readArguments(command, args);
  if (given.on('help')) return await writeLines(io.stdout, helpOf(command, io.stdout.columns));
  const activity = new Activity(given.on('verbose'), io.stderr);
  const run = (signal: AbortSignal) => {
    signal.addEventListener('abort', () => activity.wait(STOPPING));
    return writeLines(io.stdout, command.run({ ...given, signal, activity, io }), {
      signal,
      onLine: () => {
        onOutput();
        activity.end();
      },
    });
  };
  try {
    await (command.handlesSignals ? run(new AbortController().signal) : withInterrupt(run, command.grace));
  } catch (error) {
    throw withFlagName(error, command.flags);
  } finally {
    activity.end();
  }
}

/**
 * Runs a command with a signal that Ctrl-C and SIGTERM abort. The command then releases what it holds. A second Ctrl-C, or a
 * command that takes too long, ends the process at once.
 */
async function withInterrupt<T>(run: (signal: AbortSignal) => Promise<T>, grace = GRACE): Promise<T> {
  const controller = new AbortController();
  const handlers = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const exitCode = 128 + constants.signals[name];
    const handler = () => {
      if (controller.signal.aborted) process.exit(exitCode);
      systemTimer.after(grace, () => process.exit(exitCode), true);
      controller.abort(new Interrupted('', exitCode));
    };
    process.on(name, handler);
    return () => process.off(name, handler);
  });
  try {
    return await run(controller.signal);
  } finally {
    for (const remove of handlers) remove();
  }
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

/** Prints an error on standard error, with `--json` also on standard output, and returns the exit code. */
async function report(
  thrown: unknown,
  { words, io, hasOutput }: { words: readonly string[]; io: Io; hasOutput: boolean },
): Promise<number> {
  const error = thrown instanceof UnfinishedJson ? thrown.cause : thrown;
  const { message, json, exitCode } = failureOf(error);
  if (thrown instanceof UnfinishedJson) await writeLines(io.stdout, [thrown.end]);
  else if (words.includes('--json') && !hasOutput) await writeLines(io.stdout, [jsonText({ error: json })]);
  const lines = message === '' ? [] : [`idsmith: ${message}`];
  if (error instanceof UsageError)
    lines.push(`See ${['idsmith help', ...(await commandWords(words))].join(' ')}`);
  await writeLines(io.stderr, lines);
  return exitCode;
}

/** The words of the user that name a command, for `idsmith help`. */
async function commandWords(words: readonly string[]): Promise<string[]> {
  const [word, second] = words[0] === 'help' ? words.slice(1) : words;
  const listed = COMMANDS.find(({ name }) => name === word);
  if (listed === undefined) return [];
  const command = 'from' in listed ? listed : await listed.load();
  const isSecond = 'commands' in command && command.commands.some(({ name }) => name === `${word} ${second}`);
  return isSecond ? [listed.name, second as string] : [listed.name];
}
