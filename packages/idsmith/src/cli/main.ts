import { readFileSync } from 'node:fs';
import process from 'node:process';
import { IdError } from '../errors.js';
import { type Command, describe, readArguments, UsageError } from './command.js';
import { flakeCommand } from './flake.js';
import { inspectCommand } from './inspect.js';
import { keyCommand } from './key.js';
import { leasesCommand } from './leases.js';
import { localityCommand } from './locality.js';
import { writeLines } from './output.js';
import { planCommand } from './plan.js';
import { publicCommand } from './public.js';
import { reshardCommand } from './reshard.js';
import { seqCommand } from './seq.js';
import { type ExternalCommand, serverCommands } from './server-commands.js';

const COMMANDS: readonly (Command | ExternalCommand)[] = [
  localityCommand,
  flakeCommand,
  seqCommand,
  keyCommand,
  reshardCommand,
  inspectCommand,
  leasesCommand,
  planCommand,
  publicCommand,
  ...serverCommands,
];

process.exitCode = await main(process.argv.slice(2));

async function main([word, ...args]: string[]): Promise<number> {
  const listed = COMMANDS.find(({ name }) => name === word);
  try {
    if (listed === undefined) return await withoutCommand(word);
    const command = 'load' in listed ? await listed.load() : listed;
    const given = readArguments(command, args);
    await writeLines(process.stdout, given.on('help') ? describe(command) : command.run(given));
    return 0;
  } catch (error) {
    return await report(error, word);
  }
}

async function withoutCommand(word: string | undefined): Promise<number> {
  if (word === '--version') {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    await writeLines(process.stdout, [JSON.parse(manifest).version]);
    return 0;
  }
  if (word === '--help' || word === '-h' || word === 'help') {
    await writeLines(process.stdout, overview());
    return 0;
  }
  await writeLines(
    process.stderr,
    word === undefined ? overview() : [`idsmith: unknown command ${JSON.stringify(word)}`, ...overview()],
  );
  return 2;
}

function overview(): string[] {
  return [
    'Usage: idsmith <command>',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`),
    '',
    'Run idsmith <command> --help for its flags. Example: idsmith locality -n 5',
  ];
}

/** Prints an error on standard error. The exit code is 2 for wrong arguments and 1 for other failures. */
async function report(error: unknown, word: string | undefined): Promise<number> {
  const expected = error instanceof UsageError || error instanceof IdError;
  const lines = [`idsmith: ${expected ? error.message : String(error)}`];
  if (error instanceof UsageError) lines.push(`See idsmith ${word ?? ''} --help`);
  await writeLines(process.stderr, lines);
  const typed =
    error instanceof UsageError || ['INVALID_OPTION', 'INVALID_ID'].includes((error as IdError)?.code);
  return typed ? 2 : 1;
}
