#!/usr/bin/env node
import process from 'node:process';
import { muteSqliteWarning, run } from '../dist/cli/main.js';

muteSqliteWarning();
// Whoever stops reading what a command tells (`2>&1 | head`) does not stop the command.
process.stderr.on('error', () => undefined);
process.exitCode = await run(process.argv.slice(2), process);
