import { InvalidOptionError } from '../../errors.js';
import { refuse, show } from '../../options.js';

/** Marks a name that was not shortened although it looks like a short form. */
const ESCAPE = '~';

/**
 * Short forms of property names. `shorten` and `lengthen` are inverse: an object comes back as it was, also one that
 * already has a property named like a short form, which is written with a `~` before it.
 */
export class SubKeys {
  readonly #short: ReadonlyMap<string, string>;
  readonly #long: ReadonlyMap<string, string>;

  constructor(subKeys: Readonly<Record<string, string>> = {}) {
    if (typeof subKeys !== 'object' || subKeys === null) refuse('subKeys', 'an object', subKeys);
    const entries = Object.entries(subKeys);
    const long = new Map<string, string>();
    for (const [name, short] of entries) {
      if (typeof short !== 'string' || short === '' || short.startsWith(ESCAPE))
        refuse(`subKeys.${name}`, `text that does not begin with ${ESCAPE}`, short);
      const twin = long.get(short);
      if (twin !== undefined)
        throw new InvalidOptionError(
          `subKeys.${name} is ${show(short)}, which is short for ${show(twin)} already`,
        );
      long.set(short, name);
    }
    this.#short = new Map(entries);
    this.#long = long;
  }

  shorten<T>(value: T): T {
    return rename(value, (name) => this.#short.get(name) ?? (this.#isLikeShort(name) ? ESCAPE + name : name));
  }

  lengthen<T>(value: T): T {
    return rename(value, (name) => {
      const long = this.#long.get(name);
      if (long !== undefined) return long;
      return name.startsWith(ESCAPE) && this.#isLikeShort(name) ? name.slice(ESCAPE.length) : name;
    });
  }

  /** A short form, perhaps with marks before it. */
  #isLikeShort(name: string): boolean {
    return this.#long.has(name.replace(/^~+/, ''));
  }
}

/** The same with other names of properties, through arrays and plain objects; what else there is stays what it is. */
function rename<T>(value: T, nameOf: (name: string) => string, parents: readonly unknown[] = []): T {
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return value;
  if (parents.includes(value)) throw new InvalidOptionError('object must not contain itself');
  const inside = [...parents, value];
  if (isArray) return value.map((item) => rename(item, nameOf, inside)) as T;
  const entries = Object.entries(value as object);
  return Object.fromEntries(entries.map(([name, item]) => [nameOf(name), rename(item, nameOf, inside)])) as T;
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
