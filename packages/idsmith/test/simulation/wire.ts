import type { Machine } from './machine.ts';
import type { SeededRandom } from './random.ts';
import type { Timeline } from './timeline.ts';

/** How bad the network is; it can be mended. */
export interface Weather {
  /** How often a message is lost, and how often a request is repeated or late. */
  loss: number;
  repeat: number;
  late: number;
  /** How long a message takes, and how long a late one, ms. */
  readonly delay: number;
  readonly lateness: number;
}

/** A network without loss, repetition and lateness. */
export const FAIR = { loss: 0, repeat: 0, late: 0 };

/** From a good network to one on which hardly anything arrives. */
export function makeWeather(random: SeededRandom, delay: number, lateness: number): Weather {
  const badness = random.pick([0, 0.3, 1]);
  return {
    loss: (badness * random.between(0, 20)) / 100,
    repeat: (badness * random.between(0, 20)) / 100,
    late: (badness * random.between(0, 10)) / 100,
    delay: random.between(1, delay),
    lateness,
  };
}

/** The messages between machines and one server: requests and answers. */
export class Wire {
  readonly weather: Weather;
  readonly #timeline: Timeline;
  readonly #random: SeededRandom;
  readonly #isUp: () => boolean;
  readonly #count: (fault: string) => void;

  /** @param isUp tells whether the server is there */
  constructor(
    weather: Weather,
    timeline: Timeline,
    random: SeededRandom,
    isUp: () => boolean,
    count: (fault: string) => void,
  ) {
    this.weather = weather;
    this.#timeline = timeline;
    this.#random = random;
    this.#isUp = isUp;
    this.#count = count;
  }

  /** Asks the server. `execute` is called when the request arrives, possibly twice or never. The answer may never come. */
  ask<T>(machine: Machine, execute: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const arrive = () => {
        if (machine.isolated) return;
        if (this.#isUp()) {
          const result = outcomeOf(execute);
          this.#answer(machine, () => resolve(result));
        } else if (this.#random.chance(0.5)) {
          this.#answer(machine, () => reject(new Error('connection refused')));
        }
      };
      if (this.#happens('loss', 'requests lost')) return;
      this.#timeline.after(this.#delay(), arrive, false);
      if (this.#happens('repeat', 'requests repeated')) this.#timeline.after(this.#delay(), arrive, false);
    });
  }

  #answer(machine: Machine, deliver: () => void): void {
    if (this.#happens('loss', 'answers lost')) return;
    this.#timeline.after(this.#delay(), () => machine.isolated || machine.run(deliver));
  }

  #delay(): number {
    const { delay, lateness } = this.weather;
    return this.#random.between(1, this.#happens('late', 'messages late') ? lateness : delay);
  }

  #happens(what: 'loss' | 'repeat' | 'late', name: string): boolean {
    if (!this.#random.chance(this.weather[what])) return false;
    this.#count(name);
    return true;
  }
}

/** The outcome of a request. If its answer is lost, nobody hears of its error. */
function outcomeOf<T>(execute: () => T | Promise<T>): T | Promise<T> {
  try {
    const result = execute();
    if (result instanceof Promise) result.catch(() => {});
    return result;
  } catch (error) {
    const failed = Promise.reject(error);
    failed.catch(() => {});
    return failed;
  }
}
