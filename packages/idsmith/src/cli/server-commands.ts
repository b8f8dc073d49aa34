import { loadPackage } from '../support/load-package.js';
import type { Command, CommandGroup } from './command.js';

/** A command of another package. `idsmith --help` lists it; its package is loaded when the command is used. */
export interface ExternalCommand extends Pick<Command, 'name' | 'summary'> {
  /** @throws StoreError naming the package if it is not installed */
  load(): Promise<Command | CommandGroup>;
}

/** The commands of `@idsmith/server`. A test of that package holds names and summaries equal. */
export const serverCommands: readonly ExternalCommand[] = [
  { name: 'serve', summary: 'Serve ids over HTTP', load: () => load('serve') },
  { name: 'token', summary: 'Create, list and revoke tokens of the server', load: () => load('token') },
];

async function load(name: string): Promise<Command | CommandGroup> {
  // Not a literal in the import: this package is built first, and works without the server.
  const entry = '@idsmith/server/cli';
  const { commands } = await loadPackage<{ readonly commands: readonly (Command | CommandGroup)[] }>(
    '@idsmith/server',
    () => import(entry),
  );
  return commands.find((command) => command.name === name) as Command | CommandGroup;
}
