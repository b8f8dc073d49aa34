/** The part of a key that must be unique: the key without its type. */
const positionOf = (key: string) => key.slice(0, -2);

/** All keys of all processes. A key is unique without its type. */
export class Ledger {
  /** What was wrong with the first key that was. */
  violation: string | undefined;
  readonly #owners = new Map<string, string>();
  readonly #note: (what: string) => void;

  /** @param note is told of every batch of keys */
  constructor(note: (what: string) => void) {
    this.#note = note;
  }

  get size(): number {
    return this.#owners.size;
  }

  /** Takes down the keys of one call, which ascend. */
  enter(keys: readonly string[], process: string): void {
    this.#note(`${process} got ${keys.length} keys from ${keys[0]} to ${keys.at(-1)}`);
    let last = '';
    for (const key of keys) {
      const position = positionOf(key);
      const owner = this.#owners.get(position);
      if (owner !== undefined) this.violation ??= `${process} got ${key}, a key of ${owner}`;
      this.#owners.set(position, process);
      if (isBefore(position, last)) this.violation ??= `${process} got ${key} after a later key`;
      last = position;
    }
  }
}

/** Tells whether a key comes before another one: digits and letters sort as in ASCII. */
function isBefore(one: string, other: string): boolean {
  return one.length === other.length && one < other;
}
