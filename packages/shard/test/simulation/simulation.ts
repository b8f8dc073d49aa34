import { IdError } from 'idsmith';
import { simulateGlobals } from '../../../idsmith/test/simulation/globals.ts';
import { Machine } from '../../../idsmith/test/simulation/machine.ts';
import type { Outcome } from '../../../idsmith/test/simulation/outcome.ts';
import { SeededRandom } from '../../../idsmith/test/simulation/random.ts';
import { Timeline } from '../../../idsmith/test/simulation/timeline.ts';
import { FAIR, Wire } from '../../../idsmith/test/simulation/wire.ts';
import { handOver } from '../../src/mint/handover.ts';
import { NodeSequence, NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { applyFault } from './faults.ts';
import { Ledger } from './ledger.ts';
import { NodeModel } from './node-model.ts';
import { makePlan, type Plan } from './plan.ts';
import { type Link, Process, sequencesOf } from './process.ts';
import { Server } from './server.ts';

const START = Date.UTC(2026, 0, 1);
/** The time after the last fault in which minting must resume, ms. Clocks may have been 20 seconds ahead. */
const RECOVERY = 60_000;

/** What is done wrong in a run that must be found out. */
export interface Sabotage {
  readonly Node?: typeof NodeModel;
  readonly Sequence?: typeof NodeSequence;
  /** Breaks something for the time of a run; returns what mends it. */
  readonly breaks?: () => () => void;
}

/** One run: processes of two node sets, and minting handed over between the sets, while everything goes wrong that can. */
export class Simulation {
  readonly random: SeededRandom;
  readonly plan: Plan;
  readonly timeline = new Timeline(START);
  readonly ledger = new Ledger((what) => this.note(what));
  readonly links: readonly Link[];
  readonly faults: Record<string, number> = {};
  processes: Process[] = [];
  /** The node set that mints, or that a handover under way lets mint. */
  current: 0 | 1 = 0;
  /** Whether the last handover has come to its end. */
  isHandedOver = true;
  readonly #seed: number;
  readonly #sabotage: Sabotage;
  readonly #tell: (line: string) => void;
  #started = 0;
  #isRecovering = false;

  constructor(seed: number, sabotage: Sabotage = {}, tell: (line: string) => void = () => {}) {
    this.#seed = seed;
    this.#sabotage = sabotage;
    this.#tell = tell;
    this.random = new SeededRandom(seed);
    this.plan = makePlan(this.random);
    const { weather, servers } = this.plan;
    this.links = Array.from({ length: servers }, (_, number) => this.#link(number, { ...weather }));
    tell(JSON.stringify(this.plan));
  }

  #link(number: number, weather: Plan['weather']): Link {
    const { timeline, random, plan } = this;
    const server = new Server(number, timeline, this.#sabotage.Node ?? NodeModel);
    server.offset = random.between(0, plan.maxSkew) - Math.floor(plan.maxSkew / 2);
    const isUp = () => server.isUp && !server.isGone;
    return { server, wire: new Wire(weather, timeline, random, isUp, (fault) => this.count(fault)) };
  }

  async run(): Promise<Outcome> {
    const mends = [simulateGlobals(this.timeline, this.random), this.#sabotage.breaks?.()];
    try {
      for (let i = 0; i < this.plan.processes; i++) this.startProcess(0);
      this.#faultLater();
      await this.timeline.run(START + this.plan.duration, () => this.#isOver);
      await this.#recover();
    } catch (error) {
      this.ledger.violation ??= `it threw ${error instanceof Error ? error.stack : error}`;
    } finally {
      for (const mend of mends) mend?.();
    }
    const { violation, size } = this.ledger;
    return { seed: this.#seed, ids: size, faults: this.faults, violation };
  }

  get #isOver(): boolean {
    return this.ledger.violation !== undefined;
  }

  #machine(what: string): Machine {
    return new Machine(`${what} ${++this.#started}`, this.timeline);
  }

  #sequences(set: 0 | 1, machine: Machine): NodeSequence[] {
    const { sets, maxSkew, timeout, takesOver } = this.plan;
    const links = sets[set].map((number) => this.links[number] as Link);
    const Sequence = this.#sabotage.Sequence ?? NodeSequence;
    return sequencesOf(links, machine, maxSkew, timeout, takesOver && set === 1, Sequence);
  }

  startProcess(wanted: 0 | 1): void {
    const set = this.#mayStart(wanted) ? wanted : 0;
    const machine = this.#machine(`process of set ${set},`);
    const process = new Process(machine, set, this.#sequences(set, machine), this.plan.timeout, this.ledger);
    this.processes.push(process);
    this.#mintLater(process, this.random.pick([200, 200, 3000]));
  }

  /** A set without a node of the other one cannot tell that it must not begin, unless it was told or a handover keeps its nodes. */
  #mayStart(set: 0 | 1): boolean {
    const { regime, takesOver, sets } = this.plan;
    if (set === 0 || regime !== 'disjoint' || takesOver) return true;
    const hashes = (of: readonly number[]) => of.map((number) => this.links[number]?.server.node.hash);
    return hashes(sets[0]).some((hash) => hash?.state === 'closed') || !hashes(sets[1]).includes(undefined);
  }

  /** @param rest the longest time between two calls, ms */
  #mintLater(process: Process, rest: number): void {
    this.timeline.after(this.random.between(1, rest), () => {
      if (process.machine.isDead) return;
      process.mint(this.random, () => this.timeline.now);
      this.#mintLater(process, rest);
    });
  }

  #faultLater(): void {
    this.later(this.random.between(1, 400), () => {
      applyFault(this);
      this.#faultLater();
    });
  }

  /** Does `fn` after `ms`, unless all faults have ended by then. */
  later(ms: number, fn: () => void): void {
    this.timeline.after(ms, () => this.timeline.now < START + this.plan.duration && fn());
  }

  /**
   * Hands minting over to the current set, as an operator does again and again until it succeeds.
   *
   * @param onConflict called when another set owns a node, or the set that was to take over once gave minting away
   */
  handOver(onConflict = () => {}): Machine {
    const to = this.current;
    const machine = this.#machine('mover');
    const [from, next] = [this.#sequences(to === 0 ? 1 : 0, machine), this.#sequences(to, machine)];
    const gone = this.links.filter(({ server }) => server.isGone).map(({ server }) => server.address);
    // Every other operator says that old nodes may have lost their sequences. That is true while minting has not left them otherwise.
    const mayAccept = !this.#isRecovering && this.#started % 2 === 0;
    const acceptOlder = mayAccept ? from.map(({ node }) => node.address) : [];
    this.note(`${machine.name} begins to hand over to set ${to}`);
    handOver(from, next, { gone, acceptOlder }).then(
      () => {
        this.note(`${machine.name} has handed over to set ${to}`);
        if (to !== this.current || this.isHandedOver) return;
        this.isHandedOver = true;
        if (this.#isRecovering) this.startProcess(to);
      },
      (error: unknown) => {
        if (!(error instanceof IdError))
          this.ledger.violation ??= `${machine.name}: ${(error as Error).stack}`;
        this.note(`${machine.name} fails: ${(error as Error).message}`);
        if (error instanceof NodeSetConflictError) onConflict();
      },
    );
    return machine;
  }

  /** All faults end. The operator hands over to the current set, or else to the other one. Its processes must mint again. */
  async #recover(): Promise<void> {
    const { timeline } = this;
    for (const { server, wire } of this.links) {
      Object.assign(wire.weather, FAIR);
      Object.assign(server, { isUp: true, offset: 0 });
    }
    this.note('all faults end');
    this.#isRecovering = true;
    this.#useOnly(this.current);
    this.#handOverLater();
    const start = timeline.now;
    const missing = () => this.processes.filter(({ mintedAt }) => mintedAt <= start);
    const isBack = () => this.isHandedOver && missing().length === 0;
    await timeline.run(start + RECOVERY, () => this.#isOver || isBack());
    if (!this.#isOver && !isBack()) {
      const names = missing().map(({ machine }) => machine.name);
      this.ledger.violation ??= `no key within ${RECOVERY} ms after the last fault: ${names.join(', ') || 'no handover'}`;
    }
  }

  /** Ends the processes of the other set. One of this set starts when minting is handed over. */
  #useOnly(set: 0 | 1): void {
    this.current = set;
    this.isHandedOver = false;
    for (const { machine } of this.processes) {
      machine.isolated = false;
      machine.continue(() => {});
    }
    for (const { machine } of this.processes.filter((process) => process.set !== set)) machine.die();
    this.processes = this.processes.filter(({ machine }) => !machine.isDead);
  }

  #handOverLater(): void {
    this.timeline.after(3000, () => {
      if (this.isHandedOver) return;
      this.handOver(() => this.#useOnly(this.current === 0 ? 1 : 0));
      this.#handOverLater();
    });
  }

  count(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }

  note(what: string): void {
    this.#tell(`${this.timeline.now - START} ${what}`);
  }
}
