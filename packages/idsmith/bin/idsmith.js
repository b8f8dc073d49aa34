#!/usr/bin/env node
import process from 'node:process';
import { muteSqliteWarning, run } from '../dist/cli/main.js';

muteSqliteWarning();
process.exitCode = await run(process.argv.slice(2), process);
