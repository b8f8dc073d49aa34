import process from 'node:process';
import { type Command, type Flag, type Given, requireSqliteFile, writeLines } from 'idsmith/cli';
import { readSettings } from '../config/read-settings.js';
import { flagOf, SETTING_NAMES, SETTINGS } from '../config/settings.js';
import { startServer } from '../start.js';
import { firstSignal } from './signals.js';

/** One flag for each setting, and one for the config file. */
const FLAGS: Readonly<Record<string, Flag>> = {
  ...Object.fromEntries(
    SETTING_NAMES.map((name): [string, Flag] => {
      const { fallback, value, help } = SETTINGS[name];
      return [
        flagOf(name),
        { type: 'string', value, help: fallback === '' ? help : `${help}; default ${fallback}` },
      ];
    }),
  ),
  config: { type: 'string', value: 'FILE', help: 'file with settings; default idsmith.config.json' },
};

export const serveCommand: Command = {
  name: 'serve',
  usage: '[--port 7600] [--store URL]',
  summary: 'Serve ids over HTTP',
  example: 'idsmith serve --store postgres://user@host/db --port 7600',
  flags: FLAGS,
  handlesSignals: true,
  run: serve,
};

async function* serve(given: Given): AsyncIterable<string> {
  const flags = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, given.text(name)]));
  // Signals are handled from here on: whoever sees the address may send one at once.
  const signal = firstSignal();
  const warnings: string[] = [];
  const warn = (warning: string) => warnings.push(warning);
  const settings = readSettings({ flags, env: process.env, warn });
  requireSqliteFile('store', settings.store, true);
  const running = await startServer(settings, { warnings });
  // Written directly: yielded lines are held back until the command ends.
  await writeLines(process.stdout, [
    given.on('json') ? JSON.stringify({ url: running.url }) : `idsmith serves at ${running.url}`,
  ]);
  await signal;
  await running.close();
  yield* [];
  // Everything is closed by now, except for handles that a driver may have left open.
  process.exit(0);
}
