import { InvalidOptionError, refuse, show } from 'idsmith/internal';

/** The prefix of a property name that is not shortened although it looks like a short form. */
const ESCAPE = '~';

/**
 * Short forms of property names. `lengthen` undoes `shorten` for every object. A property whose own name looks like a short
 * form gets a `~` as its prefix.
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
          `subKeys.${name} must not be ${show(short)}: that is the short form of ${show(twin)}`,
        );
      long.set(short, name);
    }
    this.#short = new Map(entries);
    this.#long = long;
  }

  shorten<T>(value: T): T {
    return rename(value, (name) => this.#short.get(name) ?? (this.#looksShort(name) ? ESCAPE + name : name));
  }

  lengthen<T>(value: T): T {
    return rename(value, (name) => {
      const long = this.#long.get(name);
      if (long !== undefined) return long;
      return name.startsWith(ESCAPE) && this.#looksShort(name) ? name.slice(ESCAPE.length) : name;
    });
  }

  /** Tells whether a name is a short form, with or without `~` before it. */
  #looksShort(name: string): boolean {
    return this.#long.has(name.replace(/^~+/, ''));
  }
}

/** A copy with renamed properties, at every depth of arrays and plain objects. Other values are kept. */
function rename<T>(value: T, nameOf: (name: string) => string, parents: readonly unknown[] = []): T {
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return value;
  if (parents.includes(value)) throw new InvalidOptionError('the object must not contain itself');
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
