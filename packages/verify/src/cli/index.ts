import type { Command } from 'idsmith/internal/cli';
import { verifyCommand } from './verify-command.js';

/** The commands that `idsmith` finds in this package. */
export const commands: readonly Command[] = [verifyCommand];
