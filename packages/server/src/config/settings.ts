import { InvalidOptionError, layouts } from 'idsmith';

/**
 * Checks a setting, which is text from a flag or variable, or any JSON value from a file.
 *
 * @param where the user's name for the setting: `--port`, `IDSMITH_PORT` or `port in idsmith.config.json`
 */
export type Reader<T> = (where: string, value: unknown) => T;

/** @throws InvalidOptionError with the requirement and the value */
function refuse(where: string, requirement: string, value: unknown): never {
  const shown = typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value);
  throw new InvalidOptionError(`${where} must be ${requirement}, not ${shown?.slice(0, 60)}`);
}

function integer(min: number, max: number): Reader<number> {
  return (where, value) => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (Number.isInteger(number) && (number as number) >= min && (number as number) <= max)
      return number as number;
    refuse(where, `a whole number from ${min} to ${max}`, value);
  };
}

/** @param requirement a description of the text, for the error message */
function text(requirement: string, pattern = /^[^\0]{1,1000}$/): Reader<string> {
  return (where, value) => {
    if (typeof value === 'string' && pattern.test(value)) return value;
    // The value is not shown: it may be a URL with a password.
    throw new InvalidOptionError(`${where} must be ${requirement}`);
  };
}

function choice<T extends string>(choices: readonly T[]): Reader<T> {
  return (where, value) => {
    if (choices.includes(value as T)) return value as T;
    refuse(where, choices.map((each) => JSON.stringify(each)).join(' or '), value);
  };
}

/** Reads the origin of a site: scheme, host and port. */
const origin: Reader<string> = (where, value) => {
  const url = typeof value === 'string' && /^https?:\/\/[^\s/?#@]+\/?$/i.test(value) && URL.canParse(value);
  if (url) return new URL(value).origin;
  refuse(where, 'the origin of a site, such as https://ids.example.com', value);
};

/** The amount of logging: nothing, errors only, events as well, or every request as well. */
export type LogLevel = 'silent' | 'error' | 'info' | 'requests';

/** The name of a preset layout of flakes. */
type LayoutName = keyof typeof layouts;

/** Everything that a server can be told. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** The URL of the store of leases and sequences, for `openStore`. */
  readonly store: string;
  /**
   * The token file, which must exist. `none` runs without tokens and serves this machine only. An empty text means
   * `idsmith.tokens.json`, which may be missing.
   */
  readonly tokens: string;
  /** Tokens as secrets: the path of a file of lines `NAME SCOPES SECRET`, or `env:NAME` for a variable with such lines. */
  readonly secrets: string;
  /** The config file of the sharded keys. */
  readonly shards: string;
  /** The file with the prefixes and keys of public ids. */
  readonly publicIds: string;
  /** The prefixes of typed ids, with commas between them. */
  readonly typeIds: string;
  /** The folder of the console's files. */
  readonly assets: string;
  /** The origin of the console in browsers, where a proxy sends another `Host`. An empty text means the `Host` of each request. */
  readonly origin: string;
  readonly layout: LayoutName;
  /** The namespace of the flakes' leases. An empty text means the name of the layout. */
  readonly namespace: string;
  /** The node ids of flakes that the store gives out: `0-255`. An empty text means all of the layout. */
  readonly nodes: string;
  /** The lifetime of a lease that is not renewed, ms. */
  readonly ttl: number;
  /** Requests per second for tokens without a rate of their own; 0 means no limit. */
  readonly rate: number;
  readonly maxInFlight: number;
  readonly maxConnections: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** The longest time a request may take to arrive, ms. */
  readonly requestTimeout: number;
  /** The longest time that open requests may take to finish after a signal, ms. */
  readonly grace: number;
  readonly log: LogLevel;
  /** `off` if the server keeps no history: then it asks the store for nothing that no client asked for. */
  readonly history: 'on' | 'off';
  /** The file that keeps the history over restarts. An empty text means none. */
  readonly historyFile: string;
  /** The name under which the store keeps the history of this server. An empty text means that the store does not. */
  readonly historyStore: string;
}

/** One row of the table of settings. */
export interface Setting<T> {
  readonly fallback: T;
  readonly read: Reader<T>;
  /** The name of the value in the help: `--port PORT`. */
  readonly value: string;
  readonly help: string;
}

type Table = { readonly [K in keyof Settings]: Setting<Settings[K]> };

const HOUR = 3_600_000;

/** Every setting with its default, its check and its help. Flags and variables take their names from here. */
export const SETTINGS: Table = {
  host: {
    fallback: '127.0.0.1',
    read: text('an address or host name', /^[\w.:-]{1,255}$/),
    value: 'HOST',
    help: 'address to listen on; tokens are required beyond this machine',
  },
  port: {
    fallback: 7600,
    read: integer(0, 65_535),
    value: 'PORT',
    help: 'port to listen on; 0 takes a free one',
  },
  store: {
    fallback: 'sqlite:./ids.db',
    read: text('the URL of a store'),
    value: 'URL',
    help: 'store of leases and sequences',
  },
  tokens: {
    fallback: '',
    read: text('the path of a file'),
    value: 'FILE',
    help: 'token file; default idsmith.tokens.json if it exists; none runs without tokens',
  },
  secrets: {
    fallback: '',
    read: text('the path of a file, or env: and the name of a variable'),
    value: 'FILE',
    help: 'tokens as secrets: a file of lines NAME SCOPES SECRET, or env:NAME for a variable with them',
  },
  shards: {
    fallback: '',
    read: text('the path of a file'),
    value: 'FILE',
    help: 'config of the sharded keys: .json, .js, .cjs or .mjs',
  },
  publicIds: {
    fallback: '',
    read: text('the path of a file'),
    value: 'FILE',
    help: 'prefixes and keys of public ids',
  },
  typeIds: {
    fallback: '',
    read: text('prefixes with commas between them'),
    value: 'PREFIXES',
    help: 'prefixes of typed ids, such as user,order',
  },
  assets: {
    fallback: '',
    read: text('the path of a folder'),
    value: 'FOLDER',
    help: 'files to serve; default the console; none serves a plain page',
  },
  origin: {
    fallback: '',
    read: origin,
    value: 'URL',
    help: 'address of the console in browsers, behind a proxy that sends another Host',
  },
  layout: {
    fallback: 'jflake',
    read: choice(Object.keys(layouts) as LayoutName[]),
    value: 'NAME',
    help: 'layout of flakes',
  },
  namespace: {
    fallback: '',
    read: text('text of 1 to 255 characters', /^[^\0]{1,255}$/),
    value: 'NAME',
    help: "namespace of the flakes' leases; default the layout",
  },
  nodes: {
    fallback: '',
    read: text('two node ids like 0-255', /^\d{1,10}-\d{1,10}$/),
    value: '0-255',
    help: 'node ids of flakes of this store, where each region has a store; default all',
  },
  ttl: { fallback: 30_000, read: integer(1000, 86_400_000), value: 'MS', help: 'lifetime of a lease' },
  rate: {
    fallback: 10_000,
    read: integer(0, 1e9),
    value: 'N',
    help: 'requests per second and token; 0 means no limit',
  },
  maxInFlight: {
    fallback: 1000,
    read: integer(1, 1e6),
    value: 'N',
    help: 'requests that may wait for the store',
  },
  maxConnections: { fallback: 5000, read: integer(1, 1e6), value: 'N', help: 'open connections' },
  bodyLimit: { fallback: 65_536, read: integer(1024, 2 ** 26), value: 'BYTES', help: 'size of a request' },
  requestTimeout: {
    fallback: 15_000,
    read: integer(100, HOUR),
    value: 'MS',
    help: 'time for a request to arrive',
  },
  grace: {
    fallback: 10_000,
    read: integer(0, HOUR),
    value: 'MS',
    help: 'time for open requests to finish after a signal',
  },
  log: {
    fallback: 'info',
    read: choice(['silent', 'error', 'info', 'requests']),
    value: 'LEVEL',
    help: 'silent, error, info or requests',
  },
  history: {
    fallback: 'on',
    read: choice(['on', 'off']),
    value: 'on|off',
    help: 'a history of rates, sequences and leases for the console and metrics, read from the store every few seconds',
  },
  historyFile: {
    fallback: '',
    read: text('the path of a file'),
    value: 'FILE',
    help: 'file that keeps the history over restarts; default none',
  },
  historyStore: {
    fallback: '',
    read: text('a name of at most 100 letters, digits and .:_-', /^[\w.:-]{1,100}$/),
    value: 'NAME',
    help: 'name under which an SQL store keeps the history of this server over restarts; default none',
  },
};

/** The names of all settings. */
export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof Settings)[];

/** The flag of a setting, without dashes in front: `max-in-flight` for `maxInFlight`. */
export const flagOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The variable of a setting: `IDSMITH_MAX_IN_FLIGHT` for `maxInFlight`. */
export const variableOf = (name: string) => `IDSMITH_${flagOf(name).replaceAll('-', '_').toUpperCase()}`;
