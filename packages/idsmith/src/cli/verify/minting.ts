import { setTimeout as sleep } from 'node:timers/promises';
import type { IdError } from '../../errors.js';
import { FlakeGenerator } from '../../flake/generator.js';
import { acquireLease } from '../../lease/acquire-lease.js';
import type { Lease } from '../../lease/lease.js';
import { LocalityGenerator } from '../../locality/generator.js';
import { Sequences } from '../../sequence/sequences.js';
import type { Store } from '../../stores/store.js';
import { type Family, LAYOUT, TICK } from './families.js';
import type { Line } from './history.js';
import type { Task } from './task.js';

/** Between two handfuls of ids, ms: less than a tick, so that windows that overlap would show. */
const STEP = 25;
/** A sequence is closed and opened again after this many ids, so that ends of blocks go back. */
const IDS_OF_AN_OPENING = 40;
/** A generator whose clock went back too far works again when its clock does. After this time, ms, another one is made. */
const CLOCK_PATIENCE = 500;
/** Errors that a process meets where the store or the clock has trouble. It tries again. */
const EXPECTED: readonly string[] = ['STORE', 'CLOCK', 'LEASES_EXHAUSTED', 'LEASE_FENCED'];

/** What mints with a lease. */
interface Generator {
  batch(count: number): readonly (bigint | string)[];
}

/** Mints ids of every family of a task at the same time, until the end is ordered. */
export class MintingLoops {
  readonly #store: Store;
  readonly #task: Task;
  readonly #write: (line: Line) => void;
  readonly #ending = new AbortController();
  #offset: number;
  readonly #clock = { now: () => Date.now() + this.#offset };

  constructor(store: Store, task: Task, write: (line: Line) => void) {
    this.#store = store;
    this.#task = task;
    this.#write = write;
    this.#offset = task.offset;
  }

  /** Sets the clock off by `ms` more than from the beginning. */
  setOffset(ms: number): void {
    this.#offset = this.#task.offset + ms;
  }

  /** Ends all loops. They give back what they hold. */
  end(): void {
    this.#ending.abort();
  }

  async run(): Promise<void> {
    await Promise.all(
      this.#task.families.map((family) =>
        family === 'sequences'
          ? this.#repeat(() => this.#drawSome())
          : this.#repeat(() => this.#mintWithLease(family)),
      ),
    );
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Does the work again and again. Trouble is no reason to end; anything else is a mishap. */
  async #repeat(work: () => Promise<void>): Promise<void> {
    const told = new Set<string>();
    while (!this.#isEnding) {
      try {
        await work();
      } catch (error) {
        const { code, message } = error as IdError;
        if (this.#isEnding) return;
        if (!EXPECTED.includes(code) && !told.has(code))
          this.#write({ mishap: `${code ?? 'error'}: ${message}` });
        told.add(code);
        await sleep(100);
      }
    }
  }

  async #mintWithLease(family: 'flakes' | 'locality'): Promise<void> {
    const { names, lease: terms } = this.#task;
    const options = { ...terms, namespace: names[family], clock: this.#clock, signal: this.#ending.signal };
    const lease = await acquireLease(this.#store, options);
    try {
      await this.#mint(family, this.#generatorOf(family, lease));
    } finally {
      await lease.release().catch(() => undefined);
    }
  }

  #generatorOf(family: 'flakes' | 'locality', lease: Lease): Generator {
    if (family === 'flakes') return new FlakeGenerator({ node: lease, layout: LAYOUT, clock: this.#clock });
    // As coarse as the ticks of flakes, and with the same counter in all processes, so that windows that overlap would show.
    const coarse = { now: () => Math.floor(this.#clock.now() / TICK) * TICK };
    return new LocalityGenerator({ node: lease, mode: 'sequential', clock: coarse });
  }

  /** Mints until the end, or until the generator is of no more use. */
  async #mint(family: Family, generator: Generator): Promise<void> {
    let wrongSince = Number.POSITIVE_INFINITY;
    while (!this.#isEnding) {
      try {
        this.#write({ minted: family, ids: generator.batch(2).map(String) });
        wrongSince = Number.POSITIVE_INFINITY;
      } catch (error) {
        const { code } = error as IdError;
        if (!EXPECTED.includes(code)) throw error;
        if (code === 'CLOCK') wrongSince = Math.min(wrongSince, performance.now());
        if (performance.now() - wrongSince > CLOCK_PATIENCE) return;
      }
      await sleep(STEP);
    }
  }

  async #drawSome(): Promise<void> {
    const sequences = new Sequences(this.#store);
    try {
      const sequence = await sequences.get(this.#task.names.sequences, { prefetch: 1 });
      for (let drawn = 0; drawn < IDS_OF_AN_OPENING && !this.#isEnding; drawn++) {
        const id = await sequence.next({ signal: this.#ending.signal });
        this.#write({ minted: 'sequences', ids: [String(id)] });
        await sleep(STEP);
      }
    } finally {
      await sequences.close().catch(() => undefined);
    }
  }
}
