import {
  acquireLease,
  ClockError,
  ClosedError,
  FlakeGenerator,
  type FlakeOptions,
  type Layout,
  Lease,
  LeaseFencedError,
  type LeaseOptions,
  type LeaseRecord,
  type LeaseStore,
  LocalityGenerator,
  type LocalityOptions,
  Uuid7Generator,
} from 'idsmith';
import { type LeaseSettings, leaseSettings } from '../../../src/lease/options.ts';
import type { Moment } from '../../../src/lineage/judge.ts';
import type { Machine } from '../../simulation/machine.ts';
import type { SeededRandom } from '../../simulation/random.ts';
import type { AnyId, Family, Ledger, Trail } from './ledger.ts';

/** What a store told when a record was made. */
interface Told {
  readonly lineage: string | undefined;
  /** The time of the store. */
  readonly now: number;
  /** The clock of the process right before. */
  readonly readAt: number;
}

/** What workers are told. */
export interface WorkerPlan {
  readonly lease: Omit<LeaseOptions, 'clock' | 'timer' | 'random'> & { readonly size: number };
  readonly flake: Omit<FlakeOptions, 'node' | 'clock'> & { readonly layout: Layout };
  /** Whether two generators share the state, as threads do. */
  readonly shared: boolean;
  readonly locality: Omit<LocalityOptions, 'node' | 'clock'>;
  /** The families that workers mint, one for each lease. */
  readonly families: readonly Family[];
  /** Whether its limit is lower than that of others. */
  readonly isLowered: boolean;
  /** Comes between a lease and its generator. */
  readonly tamper: (lease: Lease, lastUsed: () => number) => Lease;
}

/** On a lease, UUIDs never repeat, whatever the random source gives. So here all of them are drawn from the same numbers. */
const NOT_RANDOM = { fill: (target: Uint8Array) => void target.fill(1) };

/** A program as a user writes it: takes a lease, mints, and takes another when it must. */
export class Worker {
  readonly machine: Machine;
  /** When it last minted. */
  mintedAt = Number.NEGATIVE_INFINITY;
  readonly #plan: WorkerPlan;
  readonly #connect: (machine: Machine, isCopy: boolean) => LeaseStore;
  readonly #store: LeaseStore;
  readonly #random: SeededRandom;
  readonly #ledger: Ledger;
  #lease: Lease | undefined;
  #generators: (FlakeGenerator | LocalityGenerator | Uuid7Generator)[] = [];
  #trail: Trail = { family: 'flake', lastId: -1n, lastUsed: -1 };
  #fencedSince: number | undefined;
  /** The record that it holds, as far as it knows, and what the store told when the record was made. */
  #record: LeaseRecord | undefined;
  #told: Told = { lineage: undefined, now: 0, readAt: Number.NEGATIVE_INFINITY };
  /** Times that its original may use as well as itself: it leaves them to that one. */
  #leavesUntil = 0;

  constructor(
    machine: Machine,
    plan: WorkerPlan,
    connect: (machine: Machine, isCopy: boolean) => LeaseStore,
    random: SeededRandom,
    ledger: Ledger,
    original?: Worker,
  ) {
    this.machine = machine;
    this.#plan = plan;
    this.#connect = connect;
    this.#store = this.#watched(connect(machine, original !== undefined));
    this.#random = random;
    this.#ledger = ledger;
    if (!original) this.#start();
  }

  get isLowered(): boolean {
    return this.#plan.isLowered;
  }

  /** The store, with an eye on the records that it says are ours. */
  #watched(store: LeaseStore): LeaseStore {
    let told = this.#told;
    const moment = async (namespace: string) => {
      const readAt = this.machine.clock.now();
      const answer = (await store.moment?.(namespace)) as Moment;
      told = { ...answer, readAt };
      return answer;
    };
    const watch = async (next: LeaseRecord, swap: Promise<boolean>) => {
      const before = told;
      const isDone = await swap;
      if (isDone && next.id >= 0) {
        this.#record = next;
        this.#told = before;
      }
      return isDone;
    };
    const { claimLease } = store;
    return {
      ...store,
      swapLease: (...args) => watch(args[2], store.swapLease(...args)),
      ...(claimLease && { claimLease: (...args) => watch(args[2], claimLease(...args)) }),
      ...(store.moment && { moment }),
    };
  }

  /**
   * The same program with the same lease on another machine, if there is a lease.
   *
   * @param isTold whether both fence their lease; a copy that does not leaves the times in hand to its original
   */
  copy(machine: Machine, isTold: boolean): Worker | undefined {
    const lease = this.#lease;
    if (lease?.state !== 'active' || this.#record?.fence !== lease.until) return undefined;
    machine.offset = this.machine.offset;
    const copy = new Worker(machine, this.#plan, this.#connect, this.#random, this.#ledger, this);
    copy.#record = this.#record;
    const { lineage, now, readAt } = this.#told;
    const record = this.#record;
    const { ttl = 0 } = this.#plan.lease;
    const acquired = {
      record,
      from: lease.from,
      ttl: lineage === undefined ? ttl : Math.min(ttl, record.expiresAt - now),
      wasEmpty: false,
      layout: undefined,
      lineage,
      floor: undefined,
      readAt,
      notedAt: undefined,
    };
    copy.#use(new Lease(copy.#settings(), acquired));
    if (isTold) for (const worker of [this, copy]) worker.#lease?.fence();
    // A tick that began before the end of the window is in hand, too.
    else copy.#leavesUntil = lease.until + this.#plan.flake.layout.tick;
    return copy;
  }

  #settings(): LeaseSettings {
    const { clock, timer } = this.machine;
    return leaseSettings(this.#store, { ...this.#plan.lease, clock, timer, random: this.#random });
  }

  /** Takes a lease, over and over until it has one. */
  #start(): void {
    const { timer } = this.machine;
    const again = () => timer.after(this.#random.between(100, 1000), () => this.#start(), false);
    const { clock } = this.machine;
    acquireLease(this.#store, { ...this.#plan.lease, clock, timer, random: this.#random })
      .then((lease) => this.#use(lease), again)
      .catch((error: unknown) => {
        this.#ledger.violation ??= `${this.machine.name} could not make a generator: ${error}`;
      });
  }

  #use(lease: Lease): void {
    const { families, tamper } = this.#plan;
    const trail = { family: this.#random.pick(families), lastId: -1n, lastUsed: -1 };
    const node = tamper(lease, () => trail.lastUsed);
    this.#trail = trail;
    this.#generators = this.#makeGenerators(trail.family, node);
    this.#lease = lease;
  }

  #makeGenerators(family: Family, node: Lease): (FlakeGenerator | LocalityGenerator | Uuid7Generator)[] {
    const { clock } = this.machine;
    if (family === 'flake') return this.#flakes(node);
    if (family === 'uuid7') return [new Uuid7Generator({ node, clock, random: NOT_RANDOM })];
    return [new LocalityGenerator({ ...this.#plan.locality, node, clock, random: this.#random })];
  }

  #flakes(node: Lease): FlakeGenerator[] {
    const { flake, shared } = this.#plan;
    const { clock } = this.machine;
    const generator = new FlakeGenerator({ ...flake, node, clock });
    return shared ? [generator, FlakeGenerator.attach(generator.share(), { clock })] : [generator];
  }

  /** Mints some ids in one of the ways there are. */
  mint(now: number): void {
    const lease = this.#lease;
    if (!lease || !this.machine.isRunning || this.machine.clock.now() < this.#leavesUntil) return;
    const generator = this.#random.pick(this.#generators);
    const count = this.#random.between(1, 12);
    try {
      if (generator instanceof LocalityGenerator) this.#toggle(generator);
      if (this.#random.chance(0.3)) this.#enter(generator.batch(count), lease, now);
      else for (let i = 0; i < count; i++) this.#enter([generator.next()], lease, now);
      this.#fencedSince = undefined;
    } catch (error) {
      if (error instanceof ClosedError && lease.state === 'released') return;
      if (!(error instanceof LeaseFencedError || error instanceof ClockError)) throw error;
      this.#fencedSince ??= now;
      const patience = 2 * (this.#plan.lease.ttl ?? 0);
      if (!this.#plan.lease.reacquire && now - this.#fencedSince > patience) this.release();
    }
  }

  #toggle(generator: LocalityGenerator): void {
    if (!this.#random.chance(0.2)) return;
    if (this.#random.chance(0.5)) generator.useSequentialIds();
    else generator.useVariableIds();
  }

  #enter(ids: AnyId[], lease: Lease, now: number): void {
    this.#ledger.enter(ids, this.#trail, this.machine.name, lease);
    this.mintedAt = now;
  }

  /** Releases the lease, if there is one, and after a while takes another. Meanwhile it goes on trying to mint. */
  release(): boolean {
    const lease = this.#lease;
    // What a copy has in hand its original may use: the copy does not know how far that one has come.
    if (this.machine.clock.now() < this.#leavesUntil) return false;
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
