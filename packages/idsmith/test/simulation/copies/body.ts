import type { RandomSource } from 'idsmith';
import { Machine } from '../machine.ts';
import { SeededRandom } from '../random.ts';
import type { Timeline } from '../timeline.ts';
import type { Wire } from '../wire.ts';

/** What the two bodies of a process have in common: the answers to all requests, until one of them is on its own. */
export class SharedLine {
  readonly #wire: Wire;
  readonly #answers: Promise<unknown>[] = [];

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Asks the store. The request that both bodies make is sent once. */
  ask<T>(body: Body, execute: () => T | Promise<T>): Promise<T> {
    if (body.isAlone) return this.#wire.ask(body.machine, execute);
    const index = body.requests++;
    this.#answers[index] ??= this.#wire.ask(body.machine, execute);
    // The connection stays with the original: a copy never hears of what was asked for before.
    return this.#answers[index].then(
      (answer) => (body.isAlone ? new Promise<T>(() => {}) : (answer as T)),
      (error) => (body.isAlone ? new Promise<T>(() => {}) : Promise.reject(error)),
    );
  }
}

/**
 * One of two bodies of a process. Both live through the same, step for step, so the second is an exact copy of the first at
 * any moment. A copy of the process is made by leaving the second body to itself.
 */
export class Body {
  readonly machine: Machine;
  readonly random: RandomSource;
  /** Whether the body is a copy that lives on its own. */
  isAlone = false;
  requests = 0;
  /** How much later its monotonic clock is than that of others, ms. Two machines never have the same to the nanosecond. */
  later = 0;

  #source: SeededRandom;

  constructor(name: string, seed: number, timeline: Timeline, atWork: (body: Body) => void) {
    this.machine = new Machine(name, timeline);
    this.#source = new SeededRandom(seed);
    this.random = {
      // Names are made of random numbers and the time, in this order.
      fill: (target) => {
        atWork(this);
        this.#source.fill(target);
      },
    };
  }

  /** Takes another source of randomness. */
  reseed(seed: number): void {
    this.#source = new SeededRandom(seed);
  }
}
