import { acquireLease, FlakeGenerator, type Lease, layouts, type Store } from 'idsmith';

/** A node id for a generator of these tests, with windows that end soon. */
const LEASE = { namespace: 'nodes', layout: layouts.jflake, size: 3, ttl: 9000, maxSkew: 200 };

/** A process that uses a store: it takes numbers of the sequence `orders`, and mints flakes. */
export class Minter {
  readonly store: Store;
  readonly numbers: bigint[] = [];
  readonly flakes: bigint[] = [];
  /** The codes of the errors of this process. */
  readonly errors: unknown[] = [];
  #lease: Lease | undefined;
  #flakes: FlakeGenerator | undefined;

  /** @param store tells that no window is longer than those of these tests, so that nobody waits for longer ones */
  constructor(store: Store) {
    this.store = Object.assign(store, { maxTtl: LEASE.ttl });
  }

  get lease(): Lease {
    return this.#lease as Lease;
  }

  async acquire(): Promise<this> {
    this.#lease = await acquireLease(this.store, { ...LEASE, waitFor: 60_000 });
    this.#lease.on('renewal-failed', () => {});
    this.#flakes = new FlakeGenerator({ node: this.#lease });
    return this;
  }

  /** Takes blocks of numbers. An error is noted, and the next call goes on. */
  async take(blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      try {
        const { first, step, count } = await this.store.allocate('orders', 1);
        for (let n = 0n; n < BigInt(count); n++) this.numbers.push(first + n * BigInt(step));
      } catch (error) {
        this.errors.push((error as { code?: unknown }).code);
      }
    }
  }

  /** Mints flakes as long as the lease allows. */
  mint(count: number): void {
    try {
      for (let i = 0; i < count; i++) this.flakes.push(this.#flakes?.next() as bigint);
    } catch (error) {
      this.errors.push((error as { code?: unknown }).code);
    }
  }

  async end(): Promise<void> {
    await this.#lease?.release().catch(() => undefined);
    await this.store.close();
  }
}

/** The number of ids that came more than once. */
export function repeats(...lists: readonly (readonly bigint[])[]): number {
  const all = lists.flat();
  return all.length - new Set(all).size;
}

/** Mints with all of the minters, again and again, until the work is done. */
export async function mintWhile(
  minters: readonly Pick<Minter, 'mint'>[],
  work: Promise<unknown>,
): Promise<void> {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  work.then(end, end);
  while (!isDone) {
    for (const minter of minters) minter.mint(20);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await work;
}
