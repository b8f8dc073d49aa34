import { existsSync, readFileSync } from 'node:fs';
import { InvalidOptionError, layouts } from 'idsmith';
import { requireKnown, unknownName } from './known-names.js';
import { choice, integer, type Reader, text } from './readers.js';

/** How much is logged: nothing, what goes wrong, also what happens, also every request. */
export type LogLevel = 'silent' | 'error' | 'info' | 'requests';

/** The name of a preset of flakes. */
type LayoutName = keyof typeof layouts;

/** Everything that a server can be told. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Where leases and sequences are, for `openStore`. */
  readonly store: string;
  /**
   * The file of tokens, which must be there; `none` if only this machine may call, without tokens. Empty for
   * `idsmith.tokens.json`, which need not be there.
   */
  readonly tokens: string;
  /** The file with the config of the sharded keys. */
  readonly shards: string;
  /** The folder of the console's files. */
  readonly assets: string;
  readonly layout: LayoutName;
  /** The namespace of the flakes' leases; the name of the layout unless it is given. */
  readonly namespace: string;
  /** How long a lease lasts without being renewed, ms. */
  readonly ttl: number;
  /** Requests a second of a token that names no rate of its own; 0 is no limit. */
  readonly rate: number;
  readonly maxInFlight: number;
  readonly maxConnections: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** How long a request may take to arrive, ms. */
  readonly requestTimeout: number;
  /** How long requests may take to end after a signal, ms. */
  readonly grace: number;
  readonly log: LogLevel;
}

interface Setting<T> {
  readonly fallback: T;
  readonly read: Reader<T>;
}

type Table = { readonly [K in keyof Settings]: Setting<Settings[K]> };

const LAYOUTS = Object.keys(layouts) as LayoutName[];
const path = text('the path of a file');
const HOUR = 3_600_000;

/** Every setting: its default, and what it may be. Flags and variables are called after these names. */
export const SETTINGS: Table = {
  host: { fallback: '127.0.0.1', read: text('an address or host name', /^[\w.:-]{1,255}$/) },
  port: { fallback: 7600, read: integer(0, 65_535) },
  store: { fallback: 'sqlite:./ids.db', read: text('the URL of a store') },
  tokens: { fallback: '', read: path },
  shards: { fallback: '', read: path },
  assets: { fallback: '', read: text('the path of a folder') },
  layout: { fallback: 'jflake', read: choice(LAYOUTS) },
  namespace: { fallback: '', read: text('text of 1 to 255 characters', /^[^\0]{1,255}$/) },
  ttl: { fallback: 30_000, read: integer(1000, 86_400_000) },
  rate: { fallback: 10_000, read: integer(0, 1e9) },
  maxInFlight: { fallback: 1000, read: integer(1, 1e6) },
  maxConnections: { fallback: 5000, read: integer(1, 1e6) },
  bodyLimit: { fallback: 65_536, read: integer(1024, 2 ** 26) },
  requestTimeout: { fallback: 15_000, read: integer(100, HOUR) },
  grace: { fallback: 10_000, read: integer(0, HOUR) },
  log: { fallback: 'info', read: choice(['silent', 'error', 'info', 'requests']) },
};

const NAMES = Object.keys(SETTINGS) as (keyof Settings)[];

/** `max-in-flight`. */
export const flagOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `IDSMITH_MAX_IN_FLIGHT`. */
const variableOf = (name: string) => `IDSMITH_${flagOf(name).replaceAll('-', '_').toUpperCase()}`;

/**
 * Settings that a program has given, with the defaults of the others.
 *
 * @throws InvalidOptionError naming the first one that is wrong
 */
export function complete(given: Partial<Settings>): Settings {
  requireKnown('the settings', given, NAMES);
  const entries = NAMES.map((name) => {
    const { read, fallback } = SETTINGS[name] as Setting<unknown>;
    const value = given[name];
    return [name, value === undefined || value === fallback ? fallback : read(name, value)];
  });
  return Object.fromEntries(entries);
}

const CONFIG_FILE = 'idsmith.config.json';

/** Where settings come from. */
export interface Sources {
  /** The flags that were given, by their names without dashes in front. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes a sentence about each variable that is called like a setting and is none. Default they are passed over. */
  readonly warn?: (warning: string) => void;
}

const SOURCES: readonly (keyof Sources)[] = ['flags', 'env', 'warn'];
const FLAGS = [...NAMES.map(flagOf), 'config'];
const VARIABLES = [...NAMES.map(variableOf), 'IDSMITH_CONFIG'];

/**
 * The settings, each from its flag, else from its variable, else from the config file, else its default.
 *
 * @throws InvalidOptionError naming the first one that is wrong, and where it came from
 */
export function readSettings(sources: Sources): Settings {
  requireKnown('the sources of settings', sources, SOURCES);
  const { flags = {}, env = {}, warn } = sources;
  requireKnown('flags', flags, FLAGS);
  // Other programs may have variables of this kind, so they are no error.
  for (const name of Object.keys(env))
    if (name.startsWith('IDSMITH_') && env[name] && !VARIABLES.includes(name))
      warn?.(`variables: ${unknownName(name, VARIABLES)}`);
  const { config } = flags;
  const { IDSMITH_CONFIG: variable } = env;
  const { name: fileName, values } = readConfig(config ?? (variable || undefined));
  const entries = NAMES.map((name) => {
    const { read, fallback } = SETTINGS[name] as Setting<unknown>;
    const [flag, variable] = [flagOf(name), variableOf(name)];
    if (flags[flag] !== undefined) return [name, read(`--${flag}`, flags[flag])];
    // An empty variable is how many a tool says that there is none.
    if (env[variable]) return [name, read(variable, env[variable])];
    if (Object.hasOwn(values, name)) return [name, read(`${name} in ${fileName}`, values[name])];
    return [name, fallback];
  });
  return Object.fromEntries(entries);
}

/** @param path of a file that must be there; the usual one need not */
function readConfig(path: string | undefined): { name: string; values: Record<string, unknown> } {
  const name = path ?? CONFIG_FILE;
  if (path === undefined && !existsSync(name)) return { name, values: {} };
  const values = readJson(name);
  requireKnown(name, values, NAMES);
  return { name, values };
}

/** @throws InvalidOptionError naming the file when it cannot be read or is not one JSON object */
export function readJson(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InvalidOptionError(`${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new InvalidOptionError(`${path} must hold a JSON object`);
}

/** JSON's own errors quote what they have read, which may be a password. */
function reasonOf(error: unknown): string {
  return error instanceof SyntaxError ? 'it is not JSON' : String((error as Error).message);
}
