// `npm start [-- --port 7600 …]`: the server on an embedded SQLite store, in ids.db of this folder.

import { resolve } from 'node:path';
import process from 'node:process';
import { readArguments } from '../packages/idsmith/dist/internal/cli.js';
import { commands } from '../packages/server/dist/cli/index.js';
import { readSettings } from '../packages/server/dist/index.js';

/** The file of the database; `undefined` if the store is not a file, or the settings are wrong, which `serve` then tells. */
function databaseFile() {
  try {
    const serve = commands.find(({ name }) => name === 'serve');
    const given = readArguments(serve, process.argv.slice(2));
    if (given.on('help')) return undefined;
    const flags = Object.fromEntries(Object.keys(serve.flags).map((flag) => [flag, given.text(flag)]));
    const { store } = readSettings({ flags, env: process.env });
    const [, path] = /^sqlite:(?:\/\/)?([^?]+)$/i.exec(store) ?? [];
    return path === undefined || path === ':memory:' ? undefined : resolve(path);
  } catch {
    return undefined;
  }
}

const file = databaseFile();
if (file !== undefined) process.stderr.write(`idsmith: the database is ${file}; --store URL takes another\n`);
process.argv.splice(2, 0, 'serve');
await import('../packages/idsmith/bin/idsmith.js');
