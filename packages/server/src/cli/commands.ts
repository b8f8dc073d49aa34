import type { Command, CommandGroup } from 'idsmith/cli';
import { serveCommand } from './serve.js';
import { tokenCommands } from './token.js';

/** The commands `idsmith serve` and `idsmith token`. */
export const commands: readonly (Command | CommandGroup)[] = [serveCommand, tokenCommands];
