import { InvalidOptionError } from 'idsmith/internal';
import { isWaiting } from '../redis/made-client.js';

/** Properties of clients that tell something about the connection. */
const PROPERTIES = new Set([
  'status',
  'options',
  'mode',
  'isOpen',
  'isReady',
  'isPubSubActive',
  'isWatching',
]);

/** Methods for listeners. Those that return the client return the client of the map in transition. */
const LISTENERS = new Set([
  'on',
  'once',
  'off',
  'addListener',
  'removeListener',
  'removeAllListeners',
  'prependListener',
  'prependOnceListener',
  'listeners',
  'listenerCount',
  'eventNames',
  'setMaxListeners',
  'getMaxListeners',
]);

/** Methods that return a stream or iterator over one key, and call other methods of the client for each part. */
const STREAMS = /^(createScanStream|[hsz]scan(buffer)?((no)?values)?(stream|iterator))$/i;

/** Methods that begin a list of commands. */
const LISTS = new Set(['multi', 'pipeline', 'MULTI']);

/** Methods that return a client with other settings. */
const DERIVING = new Set(['withTypeMapping', 'withCommandOptions', 'withAbortSignal', 'asap']);

/** Groups of commands of modules in the package `redis`, like `client.json.get`. */
const MODULES = new Set(['json', 'bf', 'cf', 'cms', 'topK', 'tDigest', 'ts', 'vectorSets']);

/** Commands without a key that every node answers alike. */
const KEYLESS = /^(ping|echo|time)(buffer)?$/i;

/** Methods that send any command, whose name is their first argument. */
const ANY_COMMAND = /^(call|callbuffer|sendcommand)$/i;

/** Methods that must not be used although a key may be among their arguments, and the way out. */
const REFUSED: readonly (readonly [methods: RegExp, advice: string])[] = [
  [
    /^([ps]?(un)?subscribe|s?publish|spublish)(buffer)?$/i,
    'messages of one node do not reach the other. Use a client of your own',
  ],
  [/^(un)?watch$/i, 'a key that is moved is no longer watched. Use a script'],
  [
    /^(duplicate|createpool|executeisolated|legacy|monitor)$/i,
    'that client would talk to one node only. Call getClient(key) for each use',
  ],
  [/^(disconnect|quit|close|destroy|end|connect|reset|select|auth|hello)$/i, 'the clients belong to the map'],
];

/** The kind of a property of a client, which decides how the client of a map in transition treats it. */
export type MethodKind = 'property' | 'listener' | 'stream' | 'list' | 'deriving' | 'module' | 'command';

/** The kind of a property; `undefined` if the client of a map in transition does not show it. */
export function kindOf(name: string, value: unknown): MethodKind | undefined {
  if (typeof value !== 'function') {
    if (PROPERTIES.has(name)) return 'property';
    return MODULES.has(name) && typeof value === 'object' ? 'module' : undefined;
  }
  if (name.startsWith('_')) return undefined;
  if (LISTENERS.has(name)) return 'listener';
  if (STREAMS.test(name)) return 'stream';
  if (LISTS.has(name)) return 'list';
  return DERIVING.has(name) ? 'deriving' : 'command';
}

/**
 * Checks a call of a command.
 *
 * @throws InvalidOptionError naming the command, when it must not be used while keys are moved
 */
export function requireRoutable(method: string, args: readonly unknown[]): void {
  const words = ANY_COMMAND.test(method) ? args.flat() : [method, ...args];
  const [name, ...rest] = words as [unknown, ...unknown[]];
  const command = String(name).split('.').at(-1) as string;
  for (const [methods, advice] of REFUSED) if (methods.test(command)) throw refusal(command, advice);
  if (isWaiting(command, rest))
    throw refusal(command, 'it would hold up the resharding. Use it without blocking, in a loop');
}

/** @throws InvalidOptionError naming a command that has no key of the stem among its arguments */
export function requireKeyless(method: string, args: readonly unknown[], stem: string): void {
  const name = String(ANY_COMMAND.test(method) ? args.flat()[0] : method);
  if (!KEYLESS.test(name))
    throw refusal(
      name.toLowerCase(),
      `its arguments have no key that begins with ${stem}, so nobody can tell which node it is for. ` +
        'Call getClient(key) for each key, or clientOf(node) for commands on a node',
    );
}

function refusal(command: string, advice: string): InvalidOptionError {
  return new InvalidOptionError(`${command} must not be used while keys are moved: ${advice}`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The length in bytes from which an argument counts as a value, and is not searched for keys. */
const MAX_KEY_BYTES = 1024;

/** The depth of arrays and objects that is searched for keys. */
const MAX_DEPTH = 3;

/**
 * Finds the keys of a stem in the arguments of a method: texts and bytes, at some depth of arrays and objects, like
 * `{ keys: [...] }`. A value that looks like such a key counts as a key, which does no harm.
 */
export function keysInArguments(stem: string, args: readonly unknown[]): string[] {
  const keys: string[] = [];
  for (const arg of args) collect(stem, arg, keys, 0);
  return keys;
}

function collect(stem: string, value: unknown, keys: string[], depth: number): void {
  if (typeof value === 'string') {
    if (isOfStem(stem, value)) keys.push(value);
  } else if (value instanceof Uint8Array) {
    if (value.length < MAX_KEY_BYTES && startsWith(value, stem)) collectBytes(stem, value, keys);
  } else if (Array.isArray(value)) {
    if (depth < MAX_DEPTH) for (const item of value) collect(stem, item, keys, depth + 1);
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const item of Object.values(value)) collect(stem, item, keys, depth + 1);
  }
}

function isOfStem(stem: string, text: string): boolean {
  return text.startsWith(stem) && (text.length === stem.length || text.charAt(stem.length) === '-');
}

/** Compares bytes with a stem, which is ASCII. */
function startsWith(bytes: Uint8Array, stem: string): boolean {
  if (bytes.length < stem.length) return false;
  for (let i = 0; i < stem.length; i++) if (bytes[i] !== stem.charCodeAt(i)) return false;
  return true;
}

function collectBytes(stem: string, bytes: Uint8Array, keys: string[]): void {
  try {
    collect(stem, utf8.decode(bytes), keys, 0);
  } catch {
    throw new InvalidOptionError(
      `a key must be UTF-8 text while keys are moved: the bytes that begin with ${stem} are not`,
    );
  }
}
