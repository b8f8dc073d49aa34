import process from 'node:process';
import { inspect } from '../inspect/inspect.js';
import { type Command, type Given, UsageError } from './command.js';
import { writeLines } from './output.js';
import { loadServer } from './server.js';

const flag = (value: string, help: string) => ({ type: 'string', value, help }) as const;

export const serveCommand: Command = {
  name: 'serve',
  usage: '[--port 7600] [--store URL]',
  summary: 'Serve ids over HTTP',
  example: 'idsmith serve --store postgres://user@host/db --port 7600',
  flags: {
    host: flag('HOST', 'where to listen, default 127.0.0.1; beyond this machine only with tokens'),
    port: flag('PORT', 'default 7600; 0 takes a free one'),
    store: flag('URL', 'leases and sequences, default sqlite:./ids.db'),
    tokens: flag('FILE', 'of idsmith token, default idsmith.tokens.json if it is there; none for none'),
    shards: flag('FILE', 'the config of sharded keys'),
    assets: flag('FOLDER', 'the files of the console'),
    layout: flag('NAME', 'of flakes, default jflake'),
    namespace: flag('NAME', "of the flakes' leases, default the layout"),
    ttl: flag('MS', 'of leases, default 30000'),
    rate: flag('N', 'requests a second of a token, default 10000; 0 is no limit'),
    'max-in-flight': flag('N', 'requests that wait for the store, default 1000'),
    'max-connections': flag('N', 'default 5000'),
    'body-limit': flag('BYTES', 'of a request, default 65536'),
    'request-timeout': flag('MS', 'for a request to arrive, default 15000'),
    grace: flag('MS', 'for requests to end after a signal, default 10000'),
    log: flag('LEVEL', 'silent, error, info or requests; default info'),
    config: flag('FILE', 'settings, default idsmith.config.json'),
  },
  run: serve,
};

async function* serve(given: Given): AsyncIterable<string> {
  if (given.rest.length > 0) throw new UsageError(`serve takes no ${JSON.stringify(given.rest[0])}`);
  const server = await loadServer();
  const flags = Object.fromEntries(Object.keys(serveCommand.flags).map((name) => [name, given.text(name)]));
  // From here on: one who sees the address may send a signal at once.
  const signal = server.firstSignal();
  const warnings: string[] = [];
  const warn = (warning: string) => warnings.push(warning);
  const settings = server.readSettings({ flags, env: process.env, warn });
  const running = await server.startServer(settings, { inspect, warnings });
  // At once, and not when everything is over.
  await writeLines(process.stdout, [
    given.on('json') ? JSON.stringify({ url: running.url }) : `idsmith serves at ${running.url}`,
  ]);
  await signal;
  await running.close();
  yield* [];
  // All that counts is closed; what a driver may still have open does not.
  process.exit(0);
}
