import type { SequenceStore } from 'idsmith';
import { COVERED_LOSS } from '../../../src/lineage/ceiling.ts';
import type { SequenceRows } from '../../../src/sequence/rows.ts';
import { RewindingServer } from '../../lineage/rewinding-store.ts';
import { simulateGlobals } from '../../simulation/globals.ts';
import { Machine } from '../../simulation/machine.ts';
import type { Outcome } from '../../simulation/outcome.ts';
import { SeededRandom } from '../../simulation/random.ts';
import { Timeline } from '../../simulation/timeline.ts';
import { FAIR, Wire } from '../../simulation/wire.ts';
import { Client, NAME, remoteRows } from './client.ts';
import { applyFault } from './faults.ts';
import { Ledger } from './ledger.ts';
import { makePlan, type Plan } from './plan.ts';
import { SequenceServer } from './server.ts';

const START = Date.UTC(2026, 0, 1);
/** The time after the last fault in which every process must get an id, ms. */
const RECOVERY = 30_000;

/** What is done wrong in a run that must be found out. */
export interface Sabotage {
  /** Makes the rows of a store with flaws. */
  readonly rows?: () => SequenceRows;
  readonly tamper?: (store: SequenceStore) => SequenceStore;
  /** A server that goes back, with flaws. */
  readonly Rewinding?: typeof RewindingServer;
}

/** One run: processes that draw from a sequence while everything goes wrong that can, all of it from one seed. */
export class Simulation {
  readonly random: SeededRandom;
  readonly plan: Plan;
  readonly timeline = new Timeline(START);
  readonly ledger = new Ledger((what) => this.note(what));
  readonly server: SequenceServer;
  readonly wire: Wire;
  readonly faults: Record<string, number> = {};
  clients: Client[] = [];
  readonly #seed: number;
  readonly #sabotage: Sabotage;
  readonly #tell: (line: string) => void;
  #started = 0;
  /** When numbers were last given out that a loss could repeat. The store told so. */
  #uncoveredAt = Number.NEGATIVE_INFINITY;

  constructor(seed: number, sabotage: Sabotage = {}, tell: (line: string) => void = () => {}) {
    this.#seed = seed;
    this.#sabotage = sabotage;
    this.#tell = tell;
    this.random = new SeededRandom(seed);
    this.plan = makePlan(this.random, seed);
    const Rewinding = sabotage.Rewinding ?? RewindingServer;
    this.server = new SequenceServer(
      this.ledger,
      this.plan.rewinds ? new Rewinding(() => this.timeline.now) : undefined,
      sabotage.rows,
    );
    const { timeline, random, server } = this;
    this.wire = new Wire(
      this.plan.weather,
      timeline,
      random,
      () => server.isUp,
      (fault) => this.count(fault),
    );
    tell(JSON.stringify(this.plan));
  }

  async run(): Promise<Outcome> {
    const mend = simulateGlobals(this.timeline, this.random);
    try {
      await this.define();
      for (let i = 0; i < this.plan.processes; i++) this.startClient();
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

  define(): Promise<void> {
    return this.server.define({ ...this.plan.definition, name: NAME });
  }

  startClient(): void {
    const { random, ledger, timeline, plan } = this;
    const onUncovered = () => {
      this.#uncoveredAt = timeline.now;
    };
    const machine = new Machine(`process ${++this.#started}`, timeline);
    const rows = remoteRows(this.server.rowsOf(machine.name), this.wire, machine, plan.timeout);
    const tamper = this.#sabotage.tamper ?? ((store) => store);
    const client = new Client(
      machine,
      rows,
      { prefetch: random.pick(plan.prefetch) },
      {
        random,
        ledger,
        tamper,
        onUncovered,
        most: plan.most,
        isWhole: !plan.rewinds,
        remembers: !plan.isRemoved && !plan.isCycled,
      },
    );
    this.clients.push(client);
    this.#actLater(client);
  }

  #actLater(client: Client): void {
    this.timeline.after(this.random.between(1, this.plan.pauses.client), () => {
      if (client.machine.isDead) return;
      client.act();
      this.#actLater(client);
    });
  }

  #faultLater(): void {
    this.later(this.random.between(1, this.plan.pauses.fault), () => {
      applyFault(this);
      this.#faultLater();
    });
  }

  /** True if a loss repeats no number: those of the last minute were given out before a ceiling that is old enough. */
  get isCovered(): boolean {
    return this.timeline.now - this.#uncoveredAt > COVERED_LOSS;
  }

  /** Does `fn` after `ms`, unless all faults have ended by then. */
  later(ms: number, fn: () => void): void {
    this.timeline.after(ms, () => this.timeline.now < START + this.plan.duration && fn());
  }

  /** All faults end. Every process must then get an id, or be told that none is left. */
  async #recover(): Promise<void> {
    const { clients, timeline, server, wire } = this;
    server.isUp = true;
    Object.assign(wire.weather, FAIR);
    for (const client of clients) {
      client.machine.isolated = false;
      client.machine.continue(() => {});
      client.isServed = false;
      this.#insistLater(client);
    }
    this.note('all faults end');
    const missing = () => clients.filter(({ isServed }) => !isServed);
    await timeline.run(timeline.now + RECOVERY, () => this.#isOver || missing().length === 0);
    for (const { machine } of missing())
      this.ledger.violation ??= `${machine.name} got no id within ${RECOVERY} ms after the last fault`;
  }

  #insistLater(client: Client): void {
    this.timeline.after(500, () => {
      client.insist();
      if (!client.isServed) this.#insistLater(client);
    });
  }

  count(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }

  note(what: string): void {
    this.#tell(`${this.timeline.now - START} ${what}`);
  }
}
