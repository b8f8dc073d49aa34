// How fast ids are drawn from a store, and how long the calls take that have to wait.

import { Sequences } from 'idsmith';

/** Ids between two turns of the event loop: a server that does nothing but hand out ids. */
const BURST = 10_000;

/**
 * One client draws for a while as fast as it can, turning the event loop between bursts.
 *
 * @returns ids a second, and of the calls the median and slow ones in microseconds
 */
export async function drawSteadily(sequence, seconds) {
  await drawFor(sequence, 1000, undefined);
  const durations = new Histogram();
  const started = performance.now();
  const { ids, waits } = await drawFor(sequence, seconds * 1000, durations);
  const perSecond = (ids / (performance.now() - started)) * 1000;
  return { perSecond, ids, waits, ...durations.summary() };
}

async function drawFor(sequence, milliseconds, durations) {
  const end = performance.now() + milliseconds;
  let [ids, waits, last] = [0, 0, 0];
  while (performance.now() < end) {
    for (let i = 0; i < BURST; i++) {
      let id = sequence.takeNumber();
      if (id === undefined) {
        const before = process.hrtime.bigint();
        id = await sequence.nextNumber();
        durations?.add(Number(process.hrtime.bigint() - before));
        waits++;
      }
      if (id <= last) throw new Error(`${id} came after ${last}`);
      last = id;
    }
    ids += BURST;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ids, waits };
}

/** Times every single call, which costs as much again as the call: for the distribution, not for the rate. */
export async function timeCalls(next, seconds) {
  const durations = new Histogram();
  const end = performance.now() + seconds * 1000;
  let waits = 0;
  while (performance.now() < end) {
    for (let i = 0; i < 1000; i++) {
      const before = process.hrtime.bigint();
      const answer = next();
      if (answer instanceof Promise) {
        waits++;
        await answer;
      }
      durations.add(Number(process.hrtime.bigint() - before));
      if (performance.now() > end) break;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { waits, ...durations.summary() };
}

/** Durations by the nanosecond up to 100 µs, and by the microsecond beyond. */
class Histogram {
  #fine = new Float64Array(100_000);
  #coarse = new Map();
  #count = 0;
  #longest = 0;

  add(nanoseconds) {
    this.#count++;
    if (nanoseconds > this.#longest) this.#longest = nanoseconds;
    if (nanoseconds < 100_000) this.#fine[nanoseconds]++;
    else {
      const micros = Math.floor(nanoseconds / 1000);
      this.#coarse.set(micros, (this.#coarse.get(micros) ?? 0) + 1);
    }
  }

  /** Microseconds. */
  summary() {
    const at = (share) => this.#percentile(share) / 1000;
    return {
      calls: this.#count,
      p50: at(0.5),
      p99: at(0.99),
      p9999: at(0.9999),
      longest: this.#longest / 1000,
    };
  }

  #percentile(share) {
    let left = this.#count * share;
    for (let ns = 0; ns < this.#fine.length; ns++) {
      left -= this.#fine[ns];
      if (left <= 0) return ns;
    }
    for (const micros of [...this.#coarse.keys()].sort((a, b) => a - b)) {
      left -= this.#coarse.get(micros);
      if (left <= 0) return micros * 1000;
    }
    return this.#longest;
  }
}

/** Blocks a second of one hot sequence, drawn by so many clients with connections of their own. */
export async function blocksPerSecond(openStore, clients, seconds, name) {
  const stores = await Promise.all(Array.from({ length: clients }, openStore));
  await new Sequences(stores[0]).define(name, { blockSize: 1000 }).catch((error) => {
    if (error.code !== 'SEQUENCE_EXISTS') throw error;
  });
  let blocks = 0;
  const end = performance.now() + seconds * 1000;
  const started = performance.now();
  await Promise.all(
    stores.map(async (store) => {
      while (performance.now() < end) {
        await store.allocate(name, 1);
        blocks++;
      }
    }),
  );
  const rate = (blocks / (performance.now() - started)) * 1000;
  await Promise.all(stores.map((store) => store.close()));
  return rate;
}
