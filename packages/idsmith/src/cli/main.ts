import { readFileSync } from 'node:fs';
import process from 'node:process';
import { nearestName } from '../options.js';
import { Activity } from './activity.js';
import { readArguments } from './arguments.js';
import { type Command, type CommandGroup, UsageError } from './command.js';
import { COMMANDS, commandWords, summaries } from './commands.js';
import { failureOf, UnfinishedJson } from './failure.js';
import { findInGroup } from './find-command.js';
import { withFlagName } from './flag-names.js';
import { helpOf, helpOfGroup, overview } from './help.js';
import { withInterrupt } from './interrupt.js';
import { writeLines } from './output.js';
import { muteSqliteWarning } from './sqlite-warning.js';
import { jsonText } from './visible.js';

const STOPPING = 'stopping: the command releases what it has taken. Ctrl-C again ends it at once';

/** True if the command has printed something. Then its JSON is complete, or an `UnfinishedJson` completes it. */
let hasOutput = false;

muteSqliteWarning();
process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  // `idsmith help seq define` is `idsmith seq define --help`.
  const [word, ...args] = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  try {
    if (word === '--version' || word === '-v') await print([version()]);
    else if (word === '--help' || word === '-h' || word === 'help') await print(overview(await summaries()));
    else if (word === undefined) {
      await writeLines(process.stderr, overview(await summaries()));
      return 2;
    } else await runCommand(await load(word), args);
    return 0;
  } catch (error) {
    return await report(error, words);
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

async function runCommand(listed: Command | CommandGroup, all: readonly string[]): Promise<void> {
  const found = 'commands' in listed ? findInGroup(listed, all) : { command: listed, args: all };
  if (found === undefined) return await print(helpOfGroup(listed as CommandGroup));
  const { command, args } = found;
  const given = readArguments(command, args);
  if (given.on('help')) return await print(helpOf(command, process.stdout.columns));
  const activity = new Activity(given.on('verbose'));
  const run = (signal: AbortSignal) => {
    signal.addEventListener('abort', () => activity.wait(STOPPING));
    return writeLines(process.stdout, command.run({ ...given, signal, activity }), {
      signal,
      onLine: () => {
        hasOutput = true;
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

function print(lines: string[]): Promise<void> {
  return writeLines(process.stdout, lines);
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

/** Prints an error on standard error, with `--json` also on standard output, and returns the exit code. */
async function report(thrown: unknown, words: readonly string[]): Promise<number> {
  const error = thrown instanceof UnfinishedJson ? thrown.cause : thrown;
  const { message, json, exitCode } = failureOf(error);
  if (thrown instanceof UnfinishedJson) await print([thrown.end]);
  else if (words.includes('--json') && !hasOutput) await print([jsonText({ error: json })]);
  const lines = message === '' ? [] : [`idsmith: ${message}`];
  if (error instanceof UsageError)
    lines.push(`See ${['idsmith help', ...(await commandWords(words))].join(' ')}`);
  await writeLines(process.stderr, lines);
  return exitCode;
}
