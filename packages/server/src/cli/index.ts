import type { Command, CommandGroup } from 'idsmith/internal/cli';
import { serveCommand } from './serve.js';
import { tokenCommands } from './token.js';

/** The commands that this package adds to `idsmith`. */
export const commands: readonly (Command | CommandGroup)[] = [serveCommand, tokenCommands];
