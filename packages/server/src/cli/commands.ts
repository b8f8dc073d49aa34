import type { Command } from 'idsmith/cli';
import { serveCommand } from './serve.js';
import { tokenCommand } from './token.js';

/** The commands `idsmith serve` and `idsmith token`. */
export const commands: readonly Command[] = [serveCommand, tokenCommand];
