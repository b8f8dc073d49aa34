import type { Command, CommandGroup } from './command.js';
import { type ExternalCommand, serverCommands } from './server-commands.js';

/** A command of this package. Its modules are loaded when the command is used: loading all of them takes longer than most commands. */
interface OwnCommand {
  readonly name: string;
  load(): Promise<Command | CommandGroup>;
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly (OwnCommand | ExternalCommand)[] = [
  { name: 'locality', load: async () => (await import('./locality.js')).localityCommand },
  { name: 'flake', load: async () => (await import('./flake.js')).flakeCommand },
  { name: 'uuid7', load: async () => (await import('./uuid7.js')).uuid7Command },
  { name: 'seq', load: async () => (await import('./seq.js')).seqCommands },
  { name: 'key', load: async () => (await import('./key.js')).keyCommand },
  { name: 'reshard', load: async () => (await import('./reshard.js')).reshardCommand },
  { name: 'inspect', load: async () => (await import('./inspect.js')).inspectCommand },
  { name: 'check', load: async () => (await import('./check/check.js')).checkCommand },
  { name: 'leases', load: async () => (await import('./leases.js')).leasesCommand },
  { name: 'verify', load: async () => (await import('./verify/verify.js')).verifyCommand },
  { name: 'plan', load: async () => (await import('./plan.js')).planCommand },
  { name: 'public', load: async () => (await import('./public.js')).publicCommands },
  ...serverCommands,
];

/** The name and summary of every command. Loads all commands of this package. */
export function summaries(): Promise<{ readonly name: string; readonly summary: string }[]> {
  return Promise.all(COMMANDS.map((listed) => ('summary' in listed ? listed : listed.load())));
}

/** The words of the user that name a command, for `idsmith help`. */
export async function commandWords(words: readonly string[]): Promise<string[]> {
  const [word, second] = words[0] === 'help' ? words.slice(1) : words;
  const listed = COMMANDS.find(({ name }) => name === word);
  if (listed === undefined) return [];
  const command = 'summary' in listed ? listed : await listed.load();
  const isSecond = 'commands' in command && command.commands.some(({ name }) => name === `${word} ${second}`);
  return isSecond ? [listed.name, second as string] : [listed.name];
}
