import { existsSync, readFileSync } from 'node:fs';
import { InvalidOptionError } from 'idsmith';
import { knownNames, requireKnown, show } from 'idsmith/internal';
import { utf8Text } from 'idsmith/internal/cli';
import { flagOf, SETTING_NAMES, SETTINGS, type Setting, type Settings, variableOf } from './settings.js';

/**
 * Adds the defaults to settings that a program has given.
 *
 * @throws InvalidOptionError naming the first wrong setting
 */
export function completeSettings(given: Partial<Settings>): Settings {
  requireKnown('the settings', given, SETTING_NAMES);
  const entries = SETTING_NAMES.map((name) => {
    const { read, fallback } = SETTINGS[name] as Setting<unknown>;
    const value = given[name];
    return [name, value === undefined || value === fallback ? fallback : read(name, value)];
  });
  return Object.fromEntries(entries);
}

/** The sources of settings. */
export interface Sources {
  /** Flags by name, without dashes in front. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives a sentence about each `IDSMITH_*` variable that is not a setting. Default: such variables are ignored. */
  readonly warn?: (warning: string) => void;
}

const CONFIG_FILE = 'idsmith.config.json';

const SOURCES: readonly (keyof Sources)[] = ['flags', 'env', 'warn'];
const FLAGS = [...SETTING_NAMES.map(flagOf), 'config'];
const VARIABLES = [...SETTING_NAMES.map(variableOf), 'IDSMITH_CONFIG'];

/**
 * Reads every setting from its flag, else from its variable, else from the config file, else takes the default.
 *
 * @throws InvalidOptionError naming the first wrong setting and its source
 */
export function readSettings(sources: Sources): Settings {
  requireKnown('the sources of settings', sources, SOURCES);
  const { flags = {}, env = {}, warn } = sources;
  requireKnown('flags', flags, FLAGS);
  if (warn !== undefined) warnOfUnknownVariables(env, warn);
  const { config } = flags;
  const { IDSMITH_CONFIG: configVariable } = env;
  const file = readConfig(config ?? (configVariable || undefined));
  const entries = SETTING_NAMES.map((name) => {
    const { read, fallback } = SETTINGS[name] as Setting<unknown>;
    const [flag, variable] = [flagOf(name), variableOf(name)];
    if (flags[flag] !== undefined) return [name, read(`--${flag}`, flags[flag])];
    // Many tools set an empty variable to mean "not set".
    if (env[variable]) return [name, read(variable, env[variable])];
    if (Object.hasOwn(file.values, name)) return [name, read(`${name} in ${file.name}`, file.values[name])];
    return [name, fallback];
  });
  return Object.fromEntries(entries);
}

/** Other programs may use variables with this prefix, so an unknown variable is not an error. */
function warnOfUnknownVariables(env: NonNullable<Sources['env']>, warn: (warning: string) => void): void {
  for (const name of Object.keys(env))
    if (name.startsWith('IDSMITH_') && env[name] && !VARIABLES.includes(name))
      warn(`variables: unknown name ${show(name)}${knownNames(name, VARIABLES)}`);
}

/** @param path of a file that must exist; `undefined` for the default file, which may be missing */
function readConfig(path: string | undefined): { name: string; values: Record<string, unknown> } {
  const name = path ?? CONFIG_FILE;
  if (path === undefined && !existsSync(name)) return { name, values: {} };
  const values = readJson(name);
  requireKnown(name, values, SETTING_NAMES);
  return { name, values };
}

/**
 * Reads a file that holds one JSON object.
 *
 * @throws InvalidOptionError naming the file if it cannot be read, is not UTF-8 or holds something else
 */
function readJson(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(utf8Text(readFileSync(path), path));
  } catch (error) {
    if (error instanceof InvalidOptionError) throw error;
    throw new InvalidOptionError(`${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new InvalidOptionError(`${path} must hold a JSON object`);
}

/** The message of an error, except for errors of JSON.parse: those quote the text, which may hold a password. */
function reasonOf(error: unknown): string {
  return error instanceof SyntaxError ? 'the text is not valid JSON' : String((error as Error).message);
}
