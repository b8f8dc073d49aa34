import { refuse } from '../../options.js';
import type { ShardOptions } from '../config.js';
import { refuseExtraArguments } from '../extra-arguments.js';
import { fixedKey, readKey, stemOf, writeKey } from './codec.js';
import { KeyTypes } from './key-types.js';
import { SubKeys } from './sub-keys.js';

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
  getType(key: string, ...extra: never[]): string | undefined {
    refuseExtraArguments('getType(key)', extra, 'a bad key is always an error');
    return this.#types.nameOf(readKey(key, this.#epoch).type);
  }

  /** The time at which a key was minted, by the clock of the node that minted it. */
  getTime(key: string, ...extra: never[]): Date {
    refuseExtraArguments('getTime(key)', extra, 'a bad key is always an error');
    return new Date(readKey(key, this.#epoch).ms + this.#epoch);
  }

  /** The milliseconds, variant and type of a key in decimal digits. Variant and type have four digits each. */
  toDecimalString(key: string, ...extra: never[]): string {
    refuseExtraArguments('toDecimalString(key)', extra, 'a bad key is always an error');
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
  fixedKey(
    timestamp: number,
    variant: number,
    type: string | number,
    suffix?: string,
    ...extra: never[]
  ): string {
    refuseExtraArguments('fixedKey(timestamp, variant, type, suffix)', extra, 'it returns the key');
    if (type === undefined) refuse('type', 'a name or a number', type);
    return fixedKey(timestamp, variant, this.#types.valueOf(type), suffix);
  }

  /** The same key with another type. Minted keys never differ in their types only, so the result is unique, too. */
  changeKeyType(key: string, type: string | number, ...extra: never[]): string {
    refuseExtraArguments('changeKeyType(key, type)', extra, 'it returns the key');
    if (type === undefined) refuse('type', 'a name or a number', type);
    const value = this.#types.valueOf(type);
    readKey(key, this.#epoch);
    const stem = stemOf(key);
    return `${stem.slice(0, -2)}${writeKey(0, 0, value).slice(-2)}${key.slice(stem.length)}`;
  }

  /** @throws InvalidOptionError when the name or the value is already defined, or the value is out of range */
  addKeyType(name: string, value: number, ...extra: never[]): void {
    refuseExtraArguments('addKeyType(name, value)', extra, 'it adds one type');
    this.#types.addType(name, value);
  }

  /** @throws InvalidOptionError when the name is already defined, or its type is unknown */
  addSpecialKey(name: string, value: readonly [number, string], ...extra: never[]): void {
    refuseExtraArguments('addSpecialKey(name, [timestamp, type])', extra, 'the value is a list of two');
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
  minify<T>(object: T, ...extra: never[]): T {
    refuseExtraArguments('minify(object)', extra, 'it returns the copy');
    return this.#subKeys.shorten(object);
  }

  /** The inverse of `minify`. */
  maxify<T>(object: T, ...extra: never[]): T {
    refuseExtraArguments('maxify(object)', extra, 'it returns the copy');
    return this.#subKeys.lengthen(object);
  }
}
