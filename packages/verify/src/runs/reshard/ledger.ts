import type { ShardMap } from '@idsmith/shard';

/** The state of one key, as the applications know it. */
interface Entry {
  /** The last acknowledged state; `null` for absent. */
  acknowledged: string | null;
  /** States of commands that failed. Such a command may take effect at any later time. */
  readonly possible: Set<string | null>;
  isBusy: boolean;
  /** The node with the key has lost its data, so nothing is known any more. */
  isLost: boolean;
}

/** What applications wrote, and what they may read. */
export class Ledger {
  readonly keys: readonly string[];
  readonly problems: string[] = [];
  readonly minted: string[] = [];
  reads = 0;
  writes = 0;
  failures = 0;
  #isOver = false;
  #number = 0;
  #isDeletedForNothing: (key: string) => boolean = () => false;
  readonly #entries: Map<string, Entry>;
  readonly #random: () => number;

  constructor(keys: readonly string[], random: () => number) {
    this.keys = keys;
    this.#random = random;
    this.#entries = new Map(
      keys.map((key) => [key, { acknowledged: null, possible: new Set(), isBusy: false, isLost: false }]),
    );
  }

  /** Uses keys through a map until `stop` is called. */
  async use(map: ShardMap): Promise<void> {
    const worker = async () => {
      while (!this.#isOver) {
        await this.#useOne(map);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([worker(), worker(), worker(), this.#mint(map)]);
  }

  stop(): void {
    this.#isOver = true;
  }

  restart(): void {
    this.#isOver = false;
  }

  /** Forgets keys whose node has lost its data. */
  forget(keys: Iterable<string>): void {
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) entry.isLost = true;
    }
  }

  /** Forgets keys that were deleted last, or may have been. */
  forgetDeleted(isMeant: (key: string) => boolean): void {
    for (const [key, { acknowledged, possible }] of this.#entries)
      if (isMeant(key) && (acknowledged === null || possible.has(null))) this.forget([key]);
  }

  /** Forgets from now on whatever is deleted. */
  forgetDeletions(isMeant: (key: string) => boolean): void {
    this.forgetDeleted(isMeant);
    this.#isDeletedForNothing = isMeant;
  }

  rememberDeletions(): void {
    this.#isDeletedForNothing = () => false;
  }

  get lost(): number {
    return [...this.#entries.values()].filter(({ isLost }) => isLost).length;
  }

  /** Checks a value that somebody read. */
  check(key: string, value: string | null, who: string): void {
    const { acknowledged, possible, isLost } = this.#entries.get(key) as Entry;
    if (isLost || value === acknowledged || possible.has(value)) return;
    this.problems.push(`${who}: ${key} is ${value}, not ${acknowledged}`);
  }

  async #useOne(map: ShardMap): Promise<void> {
    const key = this.keys[Math.floor(this.#random() * this.keys.length)] as string;
    const entry = this.#entries.get(key) as Entry;
    if (entry.isBusy) return;
    entry.isBusy = true;
    const dice = this.#random();
    if (dice < 0.5) {
      await this.#attempt(async () => {
        this.check(key, (await map.getClient(key).get(key)) as string | null, 'a read');
        this.reads++;
      });
    } else {
      const value = dice < 0.9 ? `value ${++this.#number}` : null;
      const isDone = await this.#attempt(() =>
        value === null ? map.getClient(key).del(key) : map.getClient(key).set(key, value),
      );
      if (isDone) entry.acknowledged = value;
      else entry.possible.add(value);
      if (isDone) this.writes++;
      if (value === null && this.#isDeletedForNothing(key)) entry.isLost = true;
    }
    entry.isBusy = false;
  }

  async #mint(map: ShardMap): Promise<void> {
    while (!this.#isOver) {
      await this.#attempt(async () => this.minted.push(await map.genKey('user')));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Errors are allowed while nodes are down. Wrong answers are not. */
  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch {
      this.failures++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return false;
    }
  }
}
