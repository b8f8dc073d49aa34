import { type LeaseRecord, type LeaseStore, StoreError } from 'idsmith';
import { sameRecord } from '../../../src/lease/port.ts';
import { type SequenceRows, sequenceStore } from '../../../src/sequence/rows.ts';
import { memoryRows } from '../../../src/stores/memory/store.ts';
import { withTimeout } from '../../../src/support/timeout.ts';
import { simulateGlobals } from '../globals.ts';
import type { Outcome } from '../outcome.ts';
import { SeededRandom } from '../random.ts';
import { Timeline } from '../timeline.ts';
import { Wire } from '../wire.ts';
import { Body, SharedLine } from './body.ts';
import { makePlan, type Plan } from './plan.ts';
import { CopiedProcess } from './process.ts';
import { LeasedProgram, NAME, type Program, SequenceProgram, Uuid7Program } from './programs.ts';

const START = Date.UTC(2026, 0, 1);

/** What is done wrong in a run that must be found out. */
export interface Sabotage {
  /** The store does not tell one attempt to renew a lease from another. */
  readonly isBlind?: boolean;
  /** Breaks something for the time of a run; returns what mends it. */
  readonly breaks?: () => () => void;
}

/** One run: processes that mint, and are copied with all that they have in memory. */
export class Simulation {
  readonly random: SeededRandom;
  readonly plan: Plan;
  readonly timeline = new Timeline(START);
  readonly faults: Record<string, number> = {};
  /** What was wrong with the first id that was. */
  violation: string | undefined;
  processes: CopiedProcess[] = [];
  readonly #owners = new Map<bigint | string, string>();
  readonly #wire: Wire;
  readonly #records = new Map<number, LeaseRecord>();
  readonly #rows = memoryRows();
  readonly #seed: number;
  readonly #sabotage: Sabotage;
  readonly #tell: (line: string) => void;
  #started = 0;
  #later = 0;

  constructor(seed: number, sabotage: Sabotage = {}, tell: (line: string) => void = () => {}) {
    this.#seed = seed;
    this.#sabotage = sabotage;
    this.#tell = tell;
    this.random = new SeededRandom(seed);
    this.plan = makePlan(this.random);
    this.#wire = new Wire(
      this.plan.weather,
      this.timeline,
      this.random,
      () => true,
      (fault) => this.count(fault),
    );
    tell(JSON.stringify(this.plan));
  }

  async run(): Promise<Outcome> {
    const mends = [this.#sabotage.breaks?.(), simulateGlobals(this.timeline, this.random, () => this.#later)];
    try {
      await sequenceStore(this.#rows).defineSequence({ name: NAME, blockSize: this.plan.blockSize });
      for (let i = 0; i < this.plan.processes; i++) this.#startProcess();
      this.#copyLater();
      await this.timeline.run(START + this.plan.duration, () => this.violation !== undefined);
    } catch (error) {
      this.violation ??= `it threw ${error instanceof Error ? error.stack : error}`;
    } finally {
      for (const mend of mends) mend?.();
    }
    return { seed: this.#seed, ids: this.#owners.size, faults: this.faults, violation: this.violation };
  }

  /** Starts a process with two bodies, which live through the same. */
  #startProcess(): void {
    const name = `process ${++this.#started}`;
    const seed = this.random.between(1, 2 ** 31);
    const offset = this.random.between(-this.plan.lease.maxSkew, this.plan.lease.maxSkew);
    const line = new SharedLine(this.#wire);
    const [original, copy] = [name, `the copy of ${name}`].map((each) => {
      const body = new Body(each, seed, this.timeline, ({ later }) => {
        this.#later = later;
      });
      body.machine.offset = offset;
      return { body, program: this.#program(body, line) };
    }) as [Life, Life];
    const process = new CopiedProcess(original, copy, this);
    this.processes.push(process);
    this.#mintLater(process);
  }

  #program(body: Body, line: SharedLine): Program {
    const { family, lease } = this.plan;
    if (family === 'plain uuid7') return new Uuid7Program(body);
    if (family === 'sequence')
      return new SequenceProgram(body, sequenceStore(this.#remoteRows(body, line)), this.plan);
    return new LeasedProgram(body, this.#leaseStore(body, line), family, lease);
  }

  #leaseStore(body: Body, line: SharedLine): LeaseStore {
    const records = this.#records;
    const isExpected = (current?: LeaseRecord, expected?: LeaseRecord) =>
      sameRecord(current, expected) ||
      (this.#sabotage.isBlind === true && current?.owner != null && current.epoch === expected?.epoch);
    return {
      durable: true,
      now: () => line.ask(body, () => this.timeline.now),
      listLeases: () => line.ask(body, () => [...records.values()]),
      swapLease: (_, expected, next) =>
        line.ask(
          body,
          () => isExpected(records.get(next.id), expected) && records.set(next.id, next).size > 0,
        ),
    };
  }

  #remoteRows(body: Body, line: SharedLine): SequenceRows {
    const rows = this.#rows;
    const { timer } = body.machine;
    const ask = <T>(execute: () => Promise<T>) =>
      withTimeout(line.ask(body, execute), this.plan.timeout, { timer }).catch((error) => {
        throw new StoreError(`no answer: ${error.message}`);
      });
    return {
      insert: (row) => ask(() => rows.insert(row)),
      read: (name) => ask(() => rows.read(name)),
      list: () => ask(() => rows.list()),
      swap: (expected, next) => ask(() => rows.swap(expected, next)),
      delete: (row) => ask(() => rows.delete(row)),
      advance: (from, move, to) => ask(() => rows.advance(from, move, to)),
    };
  }

  #mintLater(process: CopiedProcess): void {
    this.timeline.after(this.random.between(1, Math.floor(this.plan.lease.ttl / 6)), () => {
      process.mint(this.random.between(1, 12));
      this.#mintLater(process);
    });
  }

  #copyLater(): void {
    this.timeline.after(this.random.between(1, this.plan.lease.ttl), () => {
      const process = this.random.pick(this.processes);
      if (process.copy()) {
        this.count('processes copied');
        this.note(`copied: ${process.name}`);
        this.#startProcess();
      } else if (this.random.chance(0.3)) process.setClocks();
      this.#copyLater();
    });
  }

  /** Takes down what a body has minted. */
  enter(ids: readonly (bigint | string)[], body: Body): void {
    this.note(`${body.machine.name} got ${ids.join(' ')}`);
    for (const id of ids) {
      const owner = this.#owners.get(id);
      if (owner !== undefined) this.violation ??= `${body.machine.name} got ${id}, an id of ${owner}`;
      this.#owners.set(id, body.machine.name);
    }
  }

  count(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }

  note(what: string): void {
    this.#tell(`${this.timeline.now - START} ${what}`);
  }
}

/** A body and the program that it runs. */
export interface Life {
  readonly body: Body;
  readonly program: Program;
}
