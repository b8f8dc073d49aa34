import { refuse } from 'idsmith/internal';
import type { AnyClient, ShardConfig } from '../config/config.js';
import { ShardMap } from '../map/shard-map.js';

/** Names to keep: a list, or an object whose values are filters for the objects below, or anything else to keep all of it. */
export type ShardjsFilter = readonly string[] | { readonly [name: string]: unknown };

/** A config, or a module with `exports.config`, as `require('./shardjs-config')` returns it. */
export type ShardjsConfig = ShardConfig | { readonly config: ShardConfig };

/** Gets a key, or a list of keys if more than one was asked for; or null and the error. */
export type GenKeyCallback<Keys> = (keys: Keys, error?: unknown) => void;

/**
 * A map with the methods of Shardjs, for code that was written for Shardjs. Everything is done by a `ShardMap`.
 *
 * @example
 * const Shard = require('@idsmith/shard/shardjs').init(require('./shardjs-config').config);
 * Shard.genKey(Shard.keyTypes.user, (key) => Shard.getClient(key).hset(key, 'name', 'Ada'));
 */
export class Shardjs {
  /** The map that does the work. */
  readonly map: ShardMap;

  constructor(config: ShardConfig) {
    // Code for Shardjs uses the commands and callbacks that clients of ioredis have.
    this.map = new ShardMap({ ...config, driver: 'ioredis' });
  }

  /** The numbers of the types by name. */
  get keyTypes(): Record<string, number> {
    return this.map.keyTypes;
  }

  /** The special keys by name. */
  get specialKeys(): Record<string, string> {
    return this.map.specialKeys;
  }

  /**
   * Mints one key, or `count` keys in ascending order. With a count of 1, the callback gets a key and not a list, as in
   * Shardjs. Without a callback, the method returns a promise.
   *
   * @param type a number, or a name in `keyTypes`; `undefined` or `null` for the default type
   */
  genKey(type?: string | number | null): Promise<string>;
  genKey(type: string | number | null | undefined, callback: GenKeyCallback<string>): void;
  genKey(type: string | number | null | undefined, count: 1, callback: GenKeyCallback<string>): void;
  genKey(type: string | number | null | undefined, count: number, callback: GenKeyCallback<string[]>): void;
  genKey(type: string | number | null | undefined, count: number): Promise<string | string[]>;
  genKey(type?: string | number | null, ...rest: unknown[]): Promise<string | string[]> | undefined {
    const [count, callback] = typeof rest[0] === 'function' ? [1, ...rest] : [rest[0] ?? 1, ...rest.slice(1)];
    const isCallback = typeof callback === 'function';
    // Before any key is minted: nobody would hear of an error.
    if (!isCallback && callback !== undefined && callback !== null)
      refuse('callback', 'a function', callback);
    const keys = this.#mint(type ?? undefined, count as number, rest.length > 2 ? rest[2] : undefined);
    if (!isCallback) return keys;
    const call = callback as GenKeyCallback<unknown>;
    // An error in the callback is the caller's own, and must not come back as an error of the keys.
    keys.then(
      (minted) => queueMicrotask(() => call(minted)),
      (error) => queueMicrotask(() => call(null, error)),
    );
    return undefined;
  }

  async #mint(type: string | number | undefined, count: number, extra: unknown): Promise<string | string[]> {
    if (extra !== undefined) refuse('genKey(type, count, callback)', 'called with nothing more', extra);
    const keys = await this.map.genKeys(type, count);
    return count === 1 ? (keys[0] as string) : keys;
  }

  /** The client of the node that owns a key. Its commands take callbacks, or return promises. */
  getClient(key: string): AnyClient {
    return this.map.getClient(key);
  }

  /**
   * The name in `shards` of the node that owns a key; with `true`, the virtual shard that minted the key.
   *
   * @throws InvalidIdError when the text is not a key
   */
  whereIs(key: string): string;
  whereIs(key: string, virtual: true): number;
  whereIs(key: string, virtual?: boolean): string | number;
  whereIs(key: string, ...rest: unknown[]): string | number {
    const flags = rest.filter((flag) => flag !== undefined);
    if (flags.length > 2 || !flags.every((flag) => typeof flag === 'boolean'))
      refuse(
        'the second argument of whereIs',
        'true for the virtual shard',
        flags.find((flag) => flag !== true),
      );
    return flags.includes(true) ? this.map.virtualShardOf(key) : this.map.whereIs(key);
  }

  /** The name of a key's type; null if the type has no name. */
  getType(key: string): string | null {
    return this.map.getType(key) ?? null;
  }

  /** The time at which a key was minted, Unix ms. */
  getTime(key: string): number {
    return this.map.getTime(key).getTime();
  }

  /** The milliseconds, variant and type of a key in decimal digits. */
  toDecimalString(key: string): string {
    return this.map.toDecimalString(key);
  }

  /** Makes a key of given parts. The timestamp counts from the epoch. */
  fixedKey(timestamp: number, variant: number, type: string | number, suffix?: string): string {
    return this.map.fixedKey(timestamp, variant, type, suffix);
  }

  /** The same key with another type. */
  changeKeyType(key: string, type: string | number): string {
    return this.map.changeKeyType(key, type);
  }

  /** Adds a type. Returns 1; -1 if the name is already there; 0 if another type has the value. */
  addKeyType(name: string, value: number): 1 | 0 | -1 {
    if (Object.hasOwn(this.keyTypes, name)) return -1;
    if (Object.values(this.keyTypes).includes(value)) return 0;
    this.map.addKeyType(name, value);
    return 1;
  }

  /** Adds a special key. Returns 1; -1 if the name is already there; 0 if the type is unknown. */
  addSpecialKey(name: string, value: readonly [number, string]): 1 | 0 | -1 {
    if (Object.hasOwn(this.specialKeys, name)) return -1;
    if (!Object.hasOwn(this.keyTypes, value?.[1])) return 0;
    this.map.addSpecialKey(name, value);
    return 1;
  }

  /** A copy of an object with short property names. The filter has the long names to keep. */
  minify<T>(object: T, filter?: ShardjsFilter): T {
    return this.map.minify(filterNames(object, filter));
  }

  /** The inverse of `minify`. The filter has the long names to keep. */
  maxify<T>(object: T, filter?: ShardjsFilter): T {
    return filterNames(this.map.maxify(object), filter);
  }

  /** Ends the clients. Shardjs had no such method: its processes ran until they were killed. */
  close(): Promise<void> {
    return this.map.close();
  }
}

/**
 * Makes a map from a config of Shardjs.
 *
 * @throws InvalidOptionError naming the entry of the config that is wrong or unknown
 */
export function init(config: ShardjsConfig): Shardjs {
  const isModule = typeof config === 'object' && config !== null && 'config' in config;
  return new Shardjs(isModule ? config.config : (config as ShardConfig));
}

/** A copy of an object with the names in the filter only. Lists of objects are filtered item by item. */
function filterNames<T>(value: T, filter: ShardjsFilter | undefined): T {
  if (filter === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => filterNames(item, filter)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const below: Record<string, unknown> = Array.isArray(filter)
    ? Object.fromEntries(filter.map((name: string) => [name, true]))
    : (filter as Record<string, unknown>);
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(below, name) && below[name]);
  return Object.fromEntries(
    kept.map(([name, item]) => [name, filterNames(item, filterOf(below[name]))]),
  ) as T;
}

function filterOf(value: unknown): ShardjsFilter | undefined {
  return typeof value === 'object' && value !== null ? (value as ShardjsFilter) : undefined;
}
