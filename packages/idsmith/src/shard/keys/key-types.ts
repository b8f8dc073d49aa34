import { InvalidOptionError } from '../../errors.js';
import { refuse, requireInteger, show } from '../../options.js';
import { DEFAULT_TYPE, fixedKey, VARIANTS } from './codec.js';

const DEFAULT_NAME = '$DEF';

/** The names of key types, and the special keys that use these types. */
export class KeyTypes {
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
