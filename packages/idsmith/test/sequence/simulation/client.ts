import {
  ClosedError,
  InvalidOptionError,
  NoSuchSequenceError,
  type Sequence,
  SequenceExhaustedError,
  type SequenceStore,
  Sequences,
  StoreError,
  StoreWentBackError,
} from 'idsmith';
import { type SequenceRows, sequenceStore } from '../../../src/sequence/rows.ts';
import type { SequenceUse } from '../../../src/sequence/sequences.ts';
import { witnessed } from '../../../src/stores/witness.ts';
import { withTimeout } from '../../../src/support/timeout.ts';
import type { Machine } from '../../simulation/machine.ts';
import type { SeededRandom } from '../../simulation/random.ts';
import type { Wire } from '../../simulation/wire.ts';
import type { Ledger } from './ledger.ts';

export const NAME = 'simulated';

/** The parts of a world that its clients need. */
export interface Surroundings {
  readonly random: SeededRandom;
  readonly ledger: Ledger;
  readonly tamper: (store: SequenceStore) => SequenceStore;
  /** The most ids that a client asks for at once. */
  readonly most: number;
  /** True if nothing is ever lost: then nobody may hear of a loss. */
  readonly isWhole: boolean;
  /** False where somebody else removes the sequence or ends its cycle: who remembers its numbers takes that for a loss. See docs/lineage.md. */
  readonly remembers: boolean;
  /** Called when numbers are given out that a loss could repeat. */
  readonly onUncovered: () => void;
}

/** The rows of a server as a machine sees them: an answer that is late is an error, and nobody knows what has happened. */
export function remoteRows(rows: SequenceRows, wire: Wire, machine: Machine, timeout: number): SequenceRows {
  const { past } = rows;
  const ask = <T>(execute: () => Promise<T>) =>
    withTimeout(wire.ask(machine, execute), timeout, { timer: machine.timer }).catch((error) => {
      throw new StoreError(`no answer: ${error.message}`);
    });
  return {
    insert: (row) => ask(() => rows.insert(row)),
    read: (name) => ask(() => rows.read(name)),
    list: () => ask(() => rows.list()),
    swap: (expected, next) => ask(() => rows.swap(expected, next)),
    delete: (row) => ask(() => rows.delete(row)),
    advance: (from, move, to) => ask(() => rows.advance(from, move, to)),
    ...(past?.hasCeilings && {
      past: {
        hasCeilings: true,
        read: (name) => ask(() => past.read(name)),
        write: (name, expected, next) => ask(() => past.write(name, expected, next)),
      },
    }),
  };
}

/** A store that notes when it gives out numbers that a loss could repeat. It tells so itself. */
function watched(store: SequenceStore, onUncovered: () => void): SequenceStore {
  return {
    ...store,
    async allocate(...args) {
      const block = await store.allocate(...args);
      if (store.warnings?.().some((text) => text.includes('ceiling'))) onUncovered();
      return block;
    },
  };
}

/** Errors that a program has to expect of a store in trouble. */
const EXPECTED = [StoreError, SequenceExhaustedError, NoSuchSequenceError, ClosedError];

/** A program as a user writes it: draws ids in every way there is, and closes and opens its sequence. */
export class Client {
  readonly machine: Machine;
  /** True when it got an id, or was told that there is none, since this was last set to false. */
  isServed = false;
  readonly #around: Surroundings;
  readonly #sequences: Sequences;
  readonly #use: SequenceUse;
  #sequence: Sequence | undefined;

  constructor(machine: Machine, rows: SequenceRows, use: SequenceUse, around: Surroundings) {
    this.machine = machine;
    this.#around = around;
    this.#use = use;
    const { clock, timer } = machine;
    const store = watched(sequenceStore(rows), around.onUncovered);
    const remembering = around.remembers ? { ...store, ...witnessed(store).methods } : store;
    this.#sequences = new Sequences(around.tamper(remembering), { clock, timer });
    this.#open();
  }

  #open(): void {
    this.#try(async () => {
      this.#sequence = await this.#sequences.get(NAME, this.#use);
    });
  }

  /** Does one thing or another. */
  act(): void {
    const { random, most } = this.#around;
    const sequence = this.#sequence;
    if (!this.machine.isRunning) return;
    const count = random.between(1, most);
    const way = random.between(0, 9);
    if (sequence === undefined) this.#open();
    else if (way < 4) this.#try(async () => this.#takeAtHand(sequence, count));
    else if (way < 6) this.#try(async () => this.#enter([await sequence.next()]));
    else if (way < 8) this.#try(async () => this.#enter(await sequence.batch(count)));
    else this.#try(async () => this.#nextUnlessAborted(sequence));
  }

  /** Asks for an id until it gets one, or is told that none is left. */
  insist(): void {
    if (this.isServed) return;
    if (this.#sequence === undefined) this.#open();
    else this.#try(async () => this.#enter([await (this.#sequence as Sequence).next()]));
  }

  /** Closes the sequence, which gives unused ids back, and opens it again. */
  reopen(): boolean {
    const sequence = this.#sequence;
    if (!this.machine.isRunning || sequence === undefined) return false;
    this.#sequence = undefined;
    void sequence.close();
    return true;
  }

  /** Alters the sequence as a program or an operator does; what makes no sense is refused. */
  alter(isCycled: boolean): boolean {
    const { random } = this.#around;
    if (!this.machine.isRunning) return false;
    this.#try(async () => {
      const { next, step, min, max, cycle } = await this.#sequences.describe(NAME);
      const on = BigInt(random.between(0, 30)) * BigInt(Math.sign(step));
      const changes = [
        { next: next + on },
        { blockSize: random.between(1, 8) },
        { step: random.between(1, 3) * Math.sign(step) },
        step > 0 ? { max: max > 2n ** 62n ? max : max + on } : { min: min < -(2n ** 62n) ? min : min + on },
        ...(isCycled ? [{ cycle: !cycle }] : []),
      ];
      await this.#sequences.alter(NAME, random.pick(changes));
    }, [InvalidOptionError]);
    return true;
  }

  #takeAtHand(sequence: Sequence, count: number): void {
    for (let i = 0; i < count; i++) {
      const id = i % 2 === 0 ? sequence.take() : sequence.takeNumber();
      if (id === undefined) return;
      this.#enter([BigInt(id)]);
    }
  }

  async #nextUnlessAborted(sequence: Sequence): Promise<void> {
    const controller = new AbortController();
    this.machine.timer.after(
      this.#around.random.between(1, 50),
      () => controller.abort(new StoreError('aborted')),
      true,
    );
    this.#enter([await sequence.next({ signal: controller.signal })]);
  }

  #enter(ids: readonly bigint[]): void {
    this.isServed = true;
    this.#around.ledger.enter(ids, this.machine.name);
  }

  #try(work: () => Promise<void>, alsoExpected: readonly (new (...args: never[]) => Error)[] = []): void {
    work().catch((error: unknown) => {
      if (error instanceof SequenceExhaustedError) this.isServed = true;
      const isFalseAlarm = error instanceof StoreWentBackError && this.#around.isWhole;
      if (isFalseAlarm)
        this.#around.ledger.violation ??= `${this.machine.name}, a false alarm: ${error.message}`;
      const isExpected = [...EXPECTED, ...alsoExpected].some((kind) => error instanceof kind);
      if (!isExpected) this.#around.ledger.violation ??= `${this.machine.name}: ${(error as Error).stack}`;
    });
  }
}
