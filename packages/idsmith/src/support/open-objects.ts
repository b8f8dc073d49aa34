import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';

/** The rules of {@link OpenObjects}. */
export interface OpenObjectsRules<T> {
  /** The kind of the names, for messages: `'sequence'`. */
  readonly kind: string;
  /** The name in messages. Default the name itself. */
  readonly shownName?: (name: string) => string;
  /** The way out of a conflict of options other than to use the same ones: `'close it first'`. */
  readonly otherwise: string;
  /** False if the object was closed: the next call opens another one. Default `true`. */
  readonly isOpen?: (object: T) => boolean;
  /** True if two values of an option mean the same. Default, if they are identical. */
  readonly isSame?: (open: unknown, given: unknown) => boolean;
  /** The values of options that are left out when an object is opened. */
  readonly defaults?: object;
}

type Options = Readonly<Record<string, unknown>>;

interface Opened<T> {
  readonly options: Options;
  readonly object: T;
}

/** The objects that are open, by name. A name always gives the same object, and other options for it are an error. */
export class OpenObjects<T> {
  readonly #rules: OpenObjectsRules<T>;
  readonly #open = new Map<string, Opened<T>>();

  constructor(rules: OpenObjectsRules<T>) {
    this.#rules = rules;
  }

  /** The objects, even those that were closed and not replaced yet. */
  get all(): T[] {
    return [...this.#open.values()].map(({ object }) => object);
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /**
   * The object of the name. If none is open, `make` opens one.
   *
   * @param options an option that is left out is not compared
   * @throws InvalidOptionError when an option differs from the one that the object is open with
   */
  get(name: string, options: object, make: () => T): T {
    const found = this.#find(name);
    if (found !== undefined) {
      this.#requireSameOptions(name, found.options, options);
      return found.object;
    }
    const object = make();
    this.#open.set(name, { options: { ...this.#rules.defaults, ...given(options) }, object });
    return object;
  }

  /** Forgets the name. With `object`, only if the name still stands for it. */
  delete(name: string, object?: T): void {
    if (object === undefined || this.#open.get(name)?.object === object) this.#open.delete(name);
  }

  clear(): void {
    this.#open.clear();
  }

  #find(name: string): Opened<T> | undefined {
    const found = this.#open.get(name);
    const { isOpen = () => true } = this.#rules;
    return found !== undefined && isOpen(found.object) ? found : undefined;
  }

  #requireSameOptions(name: string, open: Options, options: object): void {
    const { kind, otherwise, isSame = Object.is, shownName = (each) => each } = this.#rules;
    for (const [option, value] of Object.entries(given(options)))
      if (!isSame(open[option], value))
        throw new InvalidOptionError(
          `${kind} ${show(shownName(name))} is open with another ${option}: use the same options, or ${otherwise}`,
        );
  }
}

/** The options that are not left out. */
function given(options: object): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
