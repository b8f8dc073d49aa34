import type { LeaseRecord, LeaseStore } from 'idsmith';
import { NAMESPACE_ID } from '../../../src/lease/protocol.ts';
import type { Machine } from './machine.ts';
import type { SeededRandom } from './random.ts';
import type { SimulatedStore } from './store.ts';
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

/** Carries requests to the store and answers back. */
export class Network {
  readonly weather: Weather;
  readonly #timeline: Timeline;
  readonly #random: SeededRandom;
  readonly #store: SimulatedStore;
  readonly #count: (fault: string) => void;

  constructor(
    weather: Weather,
    timeline: Timeline,
    random: SeededRandom,
    store: SimulatedStore,
    count: (fault: string) => void,
  ) {
    this.weather = weather;
    this.#timeline = timeline;
    this.#random = random;
    this.#store = store;
    this.#count = count;
  }

  /**
   * The store as a machine sees it.
   *
   * @param maxTtl the client's own limit
   * @param isCareful whether a client with a lower limit than others is let in only when it has seen their namespace
   */
  client(machine: Machine, maxTtl: number, isCareful: boolean): LeaseStore {
    const store = this.#store;
    const { durable, hasClock, pageSize } = store.traits;
    let isLetIn = maxTtl >= store.traits.maxTtl || !isCareful;
    const filtered = async (ask: () => LeaseRecord[]) => {
      // A lease does not look at an answer that comes after a third of its ttl, which is the limit of such a client.
      let isLate = false;
      const giveUp = () => {
        isLate = true;
      };
      const cancel = machine.timer.after(Math.ceil(maxTtl / 3), giveUp, true);
      const records = await this.#ask(machine, ask).finally(cancel);
      isLetIn ||=
        !isLate && records.some(({ id, epoch }) => id === NAMESPACE_ID && epoch >= store.traits.maxTtl);
      if (!isLetIn) throw new Error('not let in yet');
      return records;
    };
    const list = () => filtered(() => store.list());
    const page = (_: string, first: number, count: number) =>
      filtered(() => store.list().filter(({ id }) => id < 0 || (id >= first && id < first + count)));
    const claim: LeaseStore['claimLease'] = (_, expected, next, birth) =>
      this.#ask(machine, () => store.has(birth) && store.swap(expected, next));
    return {
      durable,
      maxTtl,
      ...(hasClock ? { now: () => this.#ask(machine, () => store.now()) } : {}),
      listLeases: list,
      ...(pageSize > 0 && { pageSize, readLeases: page, claimLease: claim }),
      swapLease: (_, expected, next) => this.#ask(machine, () => store.swap(expected, next)),
    };
  }

  #ask<T>(machine: Machine, execute: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const arrive = () => {
        if (machine.isolated) return;
        if (this.#store.isUp) {
          const result = execute();
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
