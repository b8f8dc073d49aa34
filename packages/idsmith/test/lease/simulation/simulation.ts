import { Machine } from '../../simulation/machine.ts';
import type { Outcome } from '../../simulation/outcome.ts';
import { SeededRandom } from '../../simulation/random.ts';
import { Timeline } from '../../simulation/timeline.ts';
import { applyFault } from './faults.ts';
import { Ledger } from './ledger.ts';
import { Network } from './network.ts';
import { makePlan, type Plan, START } from './plan.ts';
import { SimulatedStore } from './store.ts';
import { Worker, type WorkerPlan } from './worker.ts';

/** What is done wrong in a run that must be found out. */
export interface Sabotage {
  readonly Store?: typeof SimulatedStore;
  readonly tamper?: WorkerPlan['tamper'];
  /** Lets clients with a lower limit found a namespace that they never saw. */
  readonly isCareless?: boolean;
  /** Breaks something for the time of a run; returns what mends it. */
  readonly breaks?: () => () => void;
}

/** One run: processes that take leases and mint while everything goes wrong that can, all of it from one seed. */
export class Simulation {
  readonly random: SeededRandom;
  readonly plan: Plan;
  readonly timeline = new Timeline(START);
  readonly store: SimulatedStore;
  readonly network: Network;
  readonly ledger: Ledger;
  readonly faults: Record<string, number> = {};
  workers: Worker[] = [];
  readonly #seed: number;
  readonly #tamper: WorkerPlan['tamper'];
  readonly #breaks: () => () => void;
  readonly #isCareful: boolean;
  readonly #tell: (line: string) => void;
  #started = 0;

  constructor(seed: number, sabotage: Sabotage = {}, tell: (line: string) => void = () => {}) {
    this.#seed = seed;
    this.#tamper = sabotage.tamper ?? ((lease) => lease);
    this.#breaks = sabotage.breaks ?? (() => () => {});
    this.#isCareful = !sabotage.isCareless;
    this.#tell = tell;
    this.random = new SeededRandom(seed);
    this.plan = makePlan(this.random, seed);
    const { store, weather, worker } = this.plan;
    this.store = new (sabotage.Store ?? SimulatedStore)(store, this.timeline);
    this.network = new Network(weather, this.timeline, this.random, this.store, (fault) => this.count(fault));
    this.ledger = new Ledger(worker.flake.layout);
    tell(JSON.stringify(this.plan));
  }

  async run(): Promise<Outcome> {
    const mend = this.#breaks();
    try {
      for (let i = 0; i < this.plan.processes; i++) this.startWorker(this.plan.isLowered && i % 2 === 1);
      this.#faultLater();
      await this.timeline.run(START + this.plan.duration, () => this.#isOver);
      await this.#recover();
    } catch (error) {
      this.ledger.violation ??= `it threw ${error instanceof Error ? error.stack : error}`;
    } finally {
      mend();
    }
    const { violation, size } = this.ledger;
    return { seed: this.#seed, ids: size, faults: this.faults, violation };
  }

  get #isOver(): boolean {
    return this.ledger.violation !== undefined;
  }

  /** @param isLowered whether its limit is as low as it can be */
  startWorker(isLowered: boolean): void {
    const { random, network, ledger, timeline } = this;
    const machine = new Machine(`process ${++this.#started}`, timeline);
    machine.offset = random.between(-this.plan.maxSkew, this.plan.maxSkew);
    const { worker: common, ttl, store } = this.plan;
    const isLong = this.#started > this.plan.processes && this.#started % 2 === 0;
    const longTtl = isLong ? this.plan.longTtl : undefined;
    const lease = { ...common.lease, ttl: isLowered ? ttl : (longTtl ?? common.lease.ttl) };
    const plan = { ...common, lease, isLowered, tamper: this.#tamper };
    // A copy of a process knows the limits that its original has seen.
    const connect = (machine: Machine, isCopy: boolean) =>
      network.client(machine, isLowered && !isCopy ? ttl : store.maxTtl, this.#isCareful);
    const worker = new Worker(machine, plan, connect, random, ledger);
    this.workers.push(worker);
    this.#mintLater(worker);
  }

  /** Starts a copy of a process that holds a lease; returns whether it does. */
  copyWorker(original: Worker, isTold: boolean): boolean {
    const copy = original.copy(new Machine(`process ${++this.#started}, a copy`, this.timeline), isTold);
    if (!copy) return false;
    this.workers.push(copy);
    this.#mintLater(copy);
    return true;
  }

  #mintLater(worker: Worker): void {
    const wait = this.random.between(1, Math.floor(this.plan.ttl / 5));
    this.timeline.after(
      wait,
      () => {
        if (worker.machine.isDead) return;
        worker.mint(this.timeline.now);
        this.#mintLater(worker);
      },
      false,
    );
  }

  #faultLater(): void {
    this.later(this.random.between(1, Math.floor(this.plan.ttl / 2)), () => {
      applyFault(this);
      this.#faultLater();
    });
  }

  /** Does `fn` after `ms`, unless all faults have ended by then. */
  later(ms: number, fn: () => void): void {
    this.timeline.after(ms, () => this.timeline.now < START + this.plan.duration && fn());
  }

  /** All faults end. Those who are left, no more than there are node ids, must all be able to mint again. */
  async #recover(): Promise<void> {
    const { workers, store, network, timeline, plan } = this;
    store.isUp = true;
    store.offset = 0;
    Object.assign(network.weather, { loss: 0, repeat: 0, late: 0 });
    for (const { machine } of workers) {
      machine.isolated = false;
      machine.offset = 0;
      machine.continue(() => {});
    }
    // One that any namespace lets in comes first.
    if (workers.every(({ isLowered }) => isLowered)) this.startWorker(false);
    workers.sort((a, b) => Number(a.isLowered) - Number(b.isLowered));
    for (const { machine } of workers.splice(plan.worker.lease.size)) machine.die();
    this.note('all faults end');
    const start = timeline.now;
    const missing = () => workers.filter(({ mintedAt }) => mintedAt <= start);
    await timeline.run(start + plan.recovery, () => this.#isOver || missing().length === 0);
    for (const { machine } of missing()) {
      this.ledger.violation ??= `${machine.name} could not mint within ${plan.recovery} ms after the last fault`;
    }
  }

  count(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }

  note(what: string): void {
    this.#tell(`${this.timeline.now - START} ${what}`);
  }
}
