import { constants } from 'node:os';
import process from 'node:process';
import { type Command, type Flag, type Given, requireSqliteFile, writeLines } from 'idsmith/internal/cli';
import { readSettings } from '../config/read-settings.js';
import { flagOf, SETTING_NAMES, SETTINGS } from '../config/settings.js';
import { lineWriter } from '../ops/log.js';
import { startServer } from '../start.js';

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

async function* serve({ io, ...given }: Given): AsyncIterable<string> {
  const flags = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, given.text(name)]));
  // Signals are handled from here on: whoever sees the address may send one at once.
  const signals = new AbortController();
  const signal = firstSignal(signals.signal);
  try {
    const warnings: string[] = [];
    const warn = (warning: string) => warnings.push(warning);
    const settings = readSettings({ flags, env: io.env, warn });
    requireSqliteFile('store', settings.store, true);
    const running = await startServer(settings, { warnings, write: lineWriter(io.stderr) });
    // Written directly: yielded lines are held back until the command ends.
    await writeLines(io.stdout, [
      given.on('json') ? JSON.stringify({ url: running.url }) : `idsmith serves at ${running.url}`,
    ]);
    await signal;
    await running.close();
  } catch (error) {
    signals.abort();
    throw error;
  }
  yield* [];
  // Everything is closed by now, except for handles that a driver may have left open.
  process.exit(0);
}

/**
 * Resolves at the first SIGTERM or SIGINT from now on. That signal no longer ends the process by itself; a second one ends the
 * process at once.
 *
 * @param until when it is aborted, signals end the process again
 */
function firstSignal(until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const listener = () => {
        if (!isFirst) process.exit(128 + constants.signals[signal]);
        isFirst = false;
        resolve();
      };
      process.on(signal, listener);
      until.addEventListener('abort', () => process.off(signal, listener));
    }
  });
}
