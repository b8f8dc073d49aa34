import {
  acquireLease,
  ClockError,
  FlakeGenerator,
  type FlakeOptions,
  type Layout,
  type Lease,
  LeaseFencedError,
  type LeaseOptions,
  type LeaseStore,
} from 'idsmith';
import type { Ledger } from './ledger.ts';
import type { Machine } from './machine.ts';
import type { SeededRandom } from './random.ts';

/** What workers are told. */
export interface WorkerPlan {
  readonly lease: Omit<LeaseOptions, 'clock' | 'timer' | 'random'> & { readonly size: number };
  readonly flake: Omit<FlakeOptions, 'node' | 'clock'> & { readonly layout: Layout };
  /** Whether two generators share the state, as threads do. */
  readonly shared: boolean;
  /** Comes between a lease and its generator. */
  readonly tamper: (lease: Lease, layout: Layout, lastId: () => bigint) => FlakeOptions['node'];
}

/** A program as a user writes it: takes a lease, mints, and takes another when it must. */
export class Worker {
  readonly machine: Machine;
  /** When it last minted. */
  mintedAt = Number.NEGATIVE_INFINITY;
  readonly #plan: WorkerPlan;
  readonly #store: LeaseStore;
  readonly #random: SeededRandom;
  readonly #ledger: Ledger;
  #lease: Lease | undefined;
  #generators: FlakeGenerator[] = [];
  #last = -1n;
  #fencedSince: number | undefined;

  constructor(machine: Machine, plan: WorkerPlan, store: LeaseStore, random: SeededRandom, ledger: Ledger) {
    this.machine = machine;
    this.#plan = plan;
    this.#store = store;
    this.#random = random;
    this.#ledger = ledger;
    this.#start();
  }

  /** Takes a lease, over and over until it has one. */
  #start(): void {
    const { clock, timer } = this.machine;
    const again = () => timer.after(this.#random.between(100, 1000), () => this.#start(), false);
    acquireLease(this.#store, { ...this.#plan.lease, clock, timer, random: this.#random })
      .then((lease) => this.#use(lease), again)
      .catch((error: unknown) => {
        this.#ledger.violation ??= `${this.machine.name} could not make a generator: ${error}`;
      });
  }

  #use(lease: Lease): void {
    const { flake, shared, tamper } = this.#plan;
    const { clock } = this.machine;
    this.#last = -1n;
    const node = tamper(lease, flake.layout, () => this.#last);
    const generator = new FlakeGenerator({ ...flake, node, clock });
    this.#generators = shared
      ? [generator, FlakeGenerator.attach(generator.share(), { clock })]
      : [generator];
    this.#lease = lease;
  }

  /** Mints some ids in one of the ways there are. */
  mint(now: number): void {
    const lease = this.#lease;
    if (!lease || !this.machine.isRunning) return;
    const generator = this.#random.pick(this.#generators);
    const count = this.#random.between(1, 12);
    try {
      if (this.#random.chance(0.3)) this.#enter(generator.batch(count), lease, now);
      else for (let i = 0; i < count; i++) this.#enter([generator.next()], lease, now);
      this.#fencedSince = undefined;
    } catch (error) {
      if (!(error instanceof LeaseFencedError || error instanceof ClockError)) throw error;
      this.#fencedSince ??= now;
      const patience = 2 * (this.#plan.lease.ttl ?? 0);
      if (!this.#plan.lease.reacquire && now - this.#fencedSince > patience) this.release();
    }
  }

  #enter(ids: bigint[], lease: Lease, now: number): void {
    this.#last = this.#ledger.enter(ids, this.#last, this.machine.name, lease);
    this.mintedAt = now;
  }

  /** Releases the lease, if there is one, and after a while takes another. Meanwhile it goes on trying to mint. */
  release(): boolean {
    const lease = this.#lease;
    if (!lease || lease.state === 'released') return false;
    this.#fencedSince = undefined;
    lease.release().catch(() => {});
    const again = () => {
      this.#lease = undefined;
      this.#start();
    };
    this.machine.timer.after(this.#random.between(1, 3000), again, false);
    return true;
  }
}
