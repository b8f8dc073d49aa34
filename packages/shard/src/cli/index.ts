import type { Command } from 'idsmith/internal/cli';
import { keyCommand } from './key.js';
import { reshardCommand } from './reshard.js';

/** The commands that `idsmith` finds in this package. */
export const commands: readonly Command[] = [keyCommand, reshardCommand];
