import {
  acquireLease,
  ClockError,
  FlakeGenerator,
  type Lease,
  LeaseFencedError,
  type LeaseStore,
  LocalityGenerator,
  type Sequence,
  type SequenceStore,
  Sequences,
  StoreError,
  Uuid7Generator,
} from 'idsmith';
import type { Body } from './body.ts';

/** The name of the namespace and of the sequence that all programs share. */
export const NAME = 'copied';

/** A program that is copied. */
export interface Program {
  /** Mints, and hands over the ids: at once, or later. */
  mint(count: number, enter: (ids: readonly (bigint | string)[]) => void): void;
  /** Runs in a process that was restored, before anything is minted. */
  afterRestore(): void;
  /** True when it has something that a copy would share. */
  readonly isReady: boolean;
}

/** The settings of leases in a world. */
export interface LeaseTimes {
  readonly ttl: number;
  readonly maxSkew: number;
}

/** The way in which a sequence is used. */
export interface SequencePlan {
  readonly prefetch: number;
  /** Whether the platform has a hook that runs after a restore. */
  readonly hasHook: boolean;
}

type Generator = FlakeGenerator | LocalityGenerator | Uuid7Generator;

const GENERATORS = {
  flake: (node: Lease, { machine: { clock } }: Body): Generator => new FlakeGenerator({ node, clock }),
  locality: (node: Lease, { machine: { clock }, random }: Body): Generator =>
    new LocalityGenerator({ node, clock, random }),
  // On a lease, UUIDs never repeat, whatever the random source gives.
  uuid7: (node: Lease, { machine: { clock } }: Body): Generator =>
    new Uuid7Generator({ node, clock, random: { fill: (target) => void target.fill(1) } }),
};

/** Families of ids that are minted on leases. */
export const LEASED = Object.keys(GENERATORS) as (keyof typeof GENERATORS)[];

/** Mints on a lease. */
export class LeasedProgram implements Program {
  #lease: Lease | undefined;
  #generator: Generator | undefined;

  constructor(body: Body, store: LeaseStore, family: keyof typeof GENERATORS, { ttl, maxSkew }: LeaseTimes) {
    const { clock, timer } = body.machine;
    const acquire = () =>
      void acquireLease(store, {
        namespace: NAME,
        size: 16,
        ttl,
        maxSkew,
        clock,
        timer,
        random: body.random,
      }).then(
        (lease) => {
          this.#generator = GENERATORS[family](lease, body);
          this.#lease = lease;
        },
        () => timer.after(200, acquire, true),
      );
    acquire();
  }

  get isReady(): boolean {
    return this.#lease?.state === 'active';
  }

  mint(count: number, enter: (ids: readonly (bigint | string)[]) => void): void {
    try {
      for (let i = 0; i < count; i++) if (this.#generator) enter([this.#generator.next()]);
    } catch (error) {
      if (!(error instanceof LeaseFencedError || error instanceof ClockError)) throw error;
    }
  }

  afterRestore(): void {
    if (this.#generator instanceof Uuid7Generator) this.#generator.fence();
    else this.#lease?.fence();
  }
}

/** Mints UUIDs without a lease. The random source of a body is its own after a copy. */
export class Uuid7Program implements Program {
  readonly isReady = true;
  readonly #generator: Uuid7Generator;

  constructor({ machine: { clock }, random }: Body) {
    this.#generator = new Uuid7Generator({ clock, random });
  }

  mint(count: number, enter: (ids: readonly string[]) => void): void {
    for (let i = 0; i < count; i++) enter([this.#generator.next()]);
  }

  afterRestore(): void {
    this.#generator.fence();
  }
}

/** Draws from a sequence. */
export class SequenceProgram implements Program {
  #sequence: Sequence | undefined;
  readonly #hasHook: boolean;

  constructor(
    { machine: { clock, timer } }: Body,
    store: SequenceStore,
    { prefetch, hasHook }: SequencePlan,
  ) {
    this.#hasHook = hasHook;
    const sequences = new Sequences(store, { clock, timer });
    const open = () =>
      void sequences.get(NAME, { prefetch }).then(
        (sequence) => {
          this.#sequence = sequence;
        },
        () => timer.after(200, open, true),
      );
    open();
  }

  get isReady(): boolean {
    return this.#sequence !== undefined;
  }

  mint(count: number, enter: (ids: readonly bigint[]) => void): void {
    // A batch that waits has ids at hand. Without a hook, nothing may be at hand.
    const drawn = this.#hasHook ? this.#sequence?.batch(count) : this.#sequence?.next().then((id) => [id]);
    drawn?.then(enter, (error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
  }

  afterRestore(): void {
    this.#sequence?.fence();
  }
}
