import { acquireLease, FlakeGenerator, type Lease, layouts, Sequences, type Store } from 'idsmith';
import { type Series, series } from '../../src/series/series.ts';

/** A node id for a generator of these tests, with windows that end soon. */
const LEASE = { namespace: 'nodes', layout: layouts.jflake, size: 3, ttl: 9000, maxSkew: 200 };

/** A process that uses a store: it takes numbers of the sequence `orders` and of the series `invoices`, and mints flakes. */
export class Minter {
  readonly store: Store;
  readonly numbers: bigint[] = [];
  readonly invoices: string[] = [];
  readonly flakes: bigint[] = [];
  /** The codes of the errors of this process. */
  readonly errors: unknown[] = [];
  readonly #series: Series;
  readonly #log: Series;
  #lease: Lease | undefined;
  #flakes: FlakeGenerator | undefined;

  /** @param store tells that no window is longer than those of these tests, so that nobody waits for longer ones */
  constructor(store: Store) {
    this.store = Object.assign(store, { maxTtl: LEASE.ttl });
    // One number at a time: what is at hand when the store goes back is of before.
    this.#series = series('invoices', { format: 'R-{n}', prefetch: 0, store });
    this.#log = series('log', { format: 'A-{n}', audit: true, store });
  }

  get lease(): Lease {
    return this.#lease as Lease;
  }

  /** @param maxSkew more than the default for a store whose clock tells only seconds, ms */
  async acquire(maxSkew = LEASE.maxSkew): Promise<this> {
    this.#lease = await acquireLease(this.store, { ...LEASE, maxSkew, waitFor: 60_000 });
    this.#lease.on('renewal-failed', () => {});
    this.#flakes = new FlakeGenerator({ node: this.#lease });
    return this;
  }

  /** Takes blocks of the sequence, and as many numbers of the series. An error is noted, and the next call goes on. */
  async take(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.#try(async () => {
        const { first, step, count } = await this.store.allocate('orders', 1);
        for (let n = 0n; n < BigInt(count); n++) this.numbers.push(first + n * BigInt(step));
      });
      await this.#try(async () => this.invoices.push(await this.#series.next()));
    }
  }

  /** Takes numbers of a sequence and of a tenant that nobody has known so far, unless their definitions were lost. */
  async begin(): Promise<void> {
    const sequences = new Sequences(this.store);
    await sequences.ensure('late', { blockSize: 10 });
    const format = '{tenant}-{n:6}';
    const receipts = series('receipts', { format, prefetch: 0, store: this.store });
    for (let i = 0; i < 30; i++) {
      const { first } = await this.store.allocate('late', 1);
      for (let n = 0n; n < 10n; n++) this.invoices.push(`L-${first + n}`);
      this.invoices.push(await receipts.next({ tenant: 'late' }));
    }
  }

  /** Takes numbers of a series with a log. */
  async log(count: number): Promise<void> {
    for (let i = 0; i < count; i++) this.invoices.push(await this.#log.next());
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.errors.push((error as { code?: unknown }).code);
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
export function repeats(...lists: readonly (readonly unknown[])[]): number {
  const all = lists.flat();
  return all.length - new Set(all).size;
}

/** The repeated ids of each kind, of all minters together. */
export function allRepeats(minters: readonly Pick<Minter, 'numbers' | 'invoices' | 'flakes'>[]): object {
  const of = (kind: 'numbers' | 'invoices' | 'flakes') => repeats(...minters.map((each) => each[kind]));
  return { numbers: of('numbers'), invoices: of('invoices'), flakes: of('flakes') };
}

/** What {@link allRepeats} should give. */
export const NO_REPEATS = { numbers: 0, invoices: 0, flakes: 0 };

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
