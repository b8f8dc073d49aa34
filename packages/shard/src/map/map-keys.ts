import { InvalidOptionError, readKey, refuse, requireInteger, show } from 'idsmith/internal';
import type { ShardOptions } from '../config/config.js';
import { DEFAULT_TYPE, fixedKey, stemOf, VARIANTS, writeKey } from '../keys/codec.js';
import { SubKeys } from '../keys/sub-keys.js';

/** The part of a map that reads and makes keys, and needs no node. */
export class MapKeys {
  readonly #epoch: number;
  readonly #types: KeyTypes;
  readonly #subKeys: SubKeys;

  /** @throws InvalidOptionError naming a type, a special key or a short name that is wrong */
  constructor(
    epoch: number,
    { keyTypes, specialKeys, subKeys }: Pick<ShardOptions, 'keyTypes' | 'specialKeys' | 'subKeys'> = {},
  ) {
    this.#epoch = epoch;
    this.#types = new KeyTypes(keyTypes, specialKeys);
    this.#subKeys = new SubKeys(subKeys);
  }

  /**
   * The number of a type.
   *
   * @internal
   */
  typeValueOf(type: string | number | undefined): number {
    return this.#types.valueOf(type);
  }

  /** The name of a key's type; `undefined` if the type has no name in this map. */
  getType(key: string): string | undefined {
    return this.#types.nameOf(readKey(key, this.#epoch).type);
  }

  /** The time at which a key was minted, by the clock of the node that minted it. */
  getTime(key: string): Date {
    return new Date(readKey(key, this.#epoch).ms + this.#epoch);
  }

  /** The milliseconds, variant and type of a key in decimal digits. Variant and type have four digits each. */
  toDecimalString(key: string): string {
    const { ms, variant, type } = readKey(key, this.#epoch);
    return `${ms}${String(variant).padStart(4, '0')}${String(type).padStart(4, '0')}`;
  }

  /**
   * Makes a key of given parts. Use a timestamp of long ago: the map may mint the same key otherwise.
   *
   * @param timestamp milliseconds since the epoch of the map
   * @param variant taken modulo 3844
   * @param suffix characters other than 0-9, A-Z and a-z are left out
   */
  fixedKey(timestamp: number, variant: number, type: string | number, suffix?: string): string {
    if (type === undefined) refuse('type', 'a name or a number', type);
    return fixedKey(timestamp, variant, this.#types.valueOf(type), suffix);
  }

  /** The same key with another type. Minted keys never differ in their types only, so the result is unique, too. */
  changeKeyType(key: string, type: string | number): string {
    if (type === undefined) refuse('type', 'a name or a number', type);
    const value = this.#types.valueOf(type);
    readKey(key, this.#epoch);
    const stem = stemOf(key);
    return `${stem.slice(0, -2)}${writeKey(0, 0, value).slice(-2)}${key.slice(stem.length)}`;
  }

  /** @throws InvalidOptionError when the name or the value is already defined, or the value is out of range */
  addKeyType(name: string, value: number): void {
    this.#types.addType(name, value);
  }

  /** @throws InvalidOptionError when the name is already defined, or its type is unknown */
  addSpecialKey(name: string, value: readonly [number, string]): void {
    this.#types.addSpecialKey(name, value);
  }

  /** The types by name, with `$DEF` among them: a copy. */
  get keyTypes(): Record<string, number> {
    return this.#types.values;
  }

  /** The special keys by name: a copy. */
  get specialKeys(): Record<string, string> {
    return this.#types.specialKeys;
  }

  /** A copy of an object with short property names (`subKeys`), at every depth of arrays and plain objects. */
  minify<T>(object: T): T {
    return this.#subKeys.shorten(object);
  }

  /** The inverse of `minify`. */
  maxify<T>(object: T): T {
    return this.#subKeys.lengthen(object);
  }
}

const DEFAULT_NAME = '$DEF';

/** The names of key types, and the special keys that use these types. */
class KeyTypes {
  readonly #values = new Map([[DEFAULT_NAME, DEFAULT_TYPE]]);
  readonly #names = new Map([[DEFAULT_TYPE, DEFAULT_NAME]]);
  readonly #specialKeys = new Map<string, string>();

  constructor(
    keyTypes: Readonly<Record<string, number>> = {},
    specialKeys: Readonly<Record<string, readonly [number, string]>> = {},
  ) {
    if (typeof keyTypes !== 'object' || keyTypes === null) refuse('keyTypes', 'an object', keyTypes);
    if (typeof specialKeys !== 'object' || specialKeys === null)
      refuse('specialKeys', 'an object', specialKeys);
    for (const [name, value] of Object.entries(keyTypes)) {
      // Shardjs writes its default type into the config object.
      if (name !== DEFAULT_NAME || value !== DEFAULT_TYPE) this.addType(name, value);
    }
    for (const [name, value] of Object.entries(specialKeys)) this.addSpecialKey(name, value);
  }

  get values(): Record<string, number> {
    return Object.fromEntries(this.#values);
  }

  get specialKeys(): Record<string, string> {
    return Object.fromEntries(this.#specialKeys);
  }

  nameOf(type: number): string | undefined {
    return this.#names.get(type);
  }

  /**
   * The number of a type.
   *
   * @param type a name, a number, or `undefined` for the default type
   * @throws InvalidOptionError naming the unknown type
   */
  valueOf(type: string | number | undefined): number {
    if (type === undefined) return DEFAULT_TYPE;
    if (typeof type !== 'string') return requireInteger('type', type, 0, VARIANTS - 1);
    const value = this.#values.get(type);
    if (value !== undefined) return value;
    refuse('type', `one of ${[...this.#values.keys()].map(show).join(', ')}, or a number`, type);
  }

  addType(name: string, value: number): void {
    if (typeof name !== 'string' || name === '') refuse('the name of a type', 'text', name);
    requireInteger(`keyTypes.${name}`, value, 0, VARIANTS - 1);
    if (this.#values.has(name)) throw new InvalidOptionError(`keyTypes.${name} is already defined`);
    const twin = this.#names.get(value);
    if (twin !== undefined)
      throw new InvalidOptionError(
        `keyTypes.${name} must not be ${value}: the type ${show(twin)} has that number`,
      );
    this.#values.set(name, value);
    this.#names.set(value, name);
  }

  addSpecialKey(name: string, value: readonly [number, string]): void {
    const option = `specialKeys.${name}`;
    if (typeof name !== 'string' || name === '') refuse('the name of a special key', 'text', name);
    if (!Array.isArray(value) || value.length > 2) refuse(option, '[timestamp, type]', value);
    const [timestamp, type] = value as readonly [number, string];
    requireInteger(`the timestamp of ${option}`, timestamp, 0, 8.64e15);
    const typeValue = typeof type === 'string' ? this.#values.get(type) : undefined;
    if (typeValue === undefined) refuse(`the type of ${option}`, 'the name of a type in keyTypes', type);
    if (this.#specialKeys.has(name)) throw new InvalidOptionError(`${option} is already defined`);
    const key = fixedKey(timestamp, 0, typeValue, name);
    for (const [twin, other] of this.#specialKeys)
      if (other === key)
        throw new InvalidOptionError(
          `${option} makes the key ${key}, and so does specialKeys.${twin}: give one of them another timestamp`,
        );
    this.#specialKeys.set(name, key);
  }
}
