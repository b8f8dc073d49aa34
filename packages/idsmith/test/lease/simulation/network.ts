import type { LeaseRecord, LeaseStore } from 'idsmith';
import { NAMESPACE_ID } from '../../../src/lease/protocol.ts';
import type { Machine } from '../../simulation/machine.ts';
import type { SeededRandom } from '../../simulation/random.ts';
import type { Timeline } from '../../simulation/timeline.ts';
import { type Weather, Wire } from '../../simulation/wire.ts';
import type { SimulatedStore } from './store.ts';

/** Carries requests to the store and answers back. */
export class Network {
  readonly weather: Weather;
  readonly #store: SimulatedStore;
  readonly #wire: Wire;

  constructor(
    weather: Weather,
    timeline: Timeline,
    random: SeededRandom,
    store: SimulatedStore,
    count: (fault: string) => void,
  ) {
    this.weather = weather;
    this.#store = store;
    this.#wire = new Wire(weather, timeline, random, () => store.isUp, count);
  }

  /**
   * The store as a machine sees it.
   *
   * @param maxTtl the client's own limit
   * @param isCareful whether a client with a lower limit than others is let in only when it has seen their namespace
   */
  client(machine: Machine, maxTtl: number, isCareful: boolean): LeaseStore {
    const store = this.#store;
    const { durable, hasClock, pageSize, tellsLineage } = store.traits;
    let isLetIn = maxTtl >= store.traits.maxTtl || !isCareful;
    const filtered = async (ask: () => LeaseRecord[]) => {
      // A lease does not look at an answer that comes after a third of its ttl, which is the limit of such a client.
      let isLate = false;
      const giveUp = () => {
        isLate = true;
      };
      const cancel = machine.timer.after(Math.ceil(maxTtl / 3), giveUp, true);
      const records = await this.#wire.ask(machine, ask).finally(cancel);
      isLetIn ||=
        !isLate && records.some(({ id, epoch }) => id === NAMESPACE_ID && epoch >= store.traits.maxTtl);
      if (!isLetIn) throw new Error('not let in yet');
      return records;
    };
    const list = (namespace: string) => filtered(() => store.list(namespace));
    const page = (namespace: string, first: number, count: number) =>
      filtered(() => store.list(namespace).filter(({ id }) => id < 0 || (id >= first && id < first + count)));
    const claim: LeaseStore['claimLease'] = (...args) => this.#wire.ask(machine, () => store.claim(...args));
    const moment = () => this.#wire.ask(machine, () => ({ now: store.now(), lineage: store.lineage }));
    return {
      durable,
      maxTtl,
      ...(hasClock ? { now: () => this.#wire.ask(machine, () => store.now()) } : {}),
      listLeases: list,
      ...(tellsLineage && { moment, claimLease: claim }),
      ...(pageSize > 0 && { pageSize, readLeases: page, claimLease: claim }),
      swapLease: (...args) => this.#wire.ask(machine, () => store.swapIn(...args)),
    };
  }
}
