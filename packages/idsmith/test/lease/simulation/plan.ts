import { defineLayout, type Layout } from 'idsmith';
import type { SeededRandom } from '../../simulation/random.ts';
import { makeWeather, type Weather } from '../../simulation/wire.ts';
import type { Family } from './ledger.ts';
import type { StoreTraits } from './store.ts';
import type { WorkerPlan } from './worker.ts';

/** When simulated time begins. */
export const START = Date.UTC(2026, 0, 1);
const EPOCH = Date.UTC(2024, 0, 1);

const FAMILIES: readonly (readonly Family[])[] = [
  ['flake'],
  ['locality'],
  ['uuid7'],
  ['flake', 'locality', 'uuid7'],
];

/** Everything about a run that is settled before it starts. */
export interface Plan {
  readonly processes: number;
  readonly store: StoreTraits;
  readonly weather: Weather;
  readonly worker: Omit<WorkerPlan, 'tamper' | 'isLowered'>;
  /** Whether some clients of a store that can forget have a lower limit than the others, who have long leases. */
  readonly isLowered: boolean;
  /** The ttl of some clients that start later, where others wait for so long after a loss only if the namespace has a note of it, ms. */
  readonly longTtl: number | undefined;
  readonly ttl: number;
  readonly maxSkew: number;
  /** How long faults happen, and how long afterwards service may take to resume, ms. */
  readonly duration: number;
  readonly recovery: number;
}

/** @param seed every fifth one has a store that tells its lineage, and goes back. Every tenth one has clients with a longer ttl there. */
export function makePlan(random: SeededRandom, seed: number): Plan {
  const ttl = random.between(100, 5000);
  const maxSkew = random.between(0, Math.floor(ttl / 4));
  const durable = random.chance(0.6);
  // Only a store with a clock can forget and still be safe.
  const isPaged = random.chance(0.3);
  const store = {
    durable,
    hasClock: !durable || random.chance(0.6),
    maxTtl: ttl + random.between(0, ttl),
    pageSize: isPaged ? 1 : 0,
    tellsLineage: false,
  };
  const isLowered = !durable && random.chance(0.4);
  const longest = isLowered ? store.maxTtl : ttl;
  // More than sixteen pages make a namespace large.
  const nodes = isPaged && random.chance(0.5) ? random.between(17, 20) : random.between(2, 4);
  const weather = makeWeather(random, Math.floor(ttl / 8), random.between(1, 4) * ttl);
  const plan: Plan = {
    store,
    isLowered,
    longTtl: undefined,
    ttl,
    maxSkew,
    processes: random.between(3, 6),
    weather,
    worker: {
      lease: { namespace: 'simulated', size: nodes, ttl: longest, maxSkew, reacquire: random.chance(0.7) },
      flake: {
        layout: makeLayout(random),
        onFull: random.chance(0.75) ? 'borrow' : 'wait',
        onClockBack: random.chance(0.9) ? 'hold' : 'throw',
        maxBackward: random.between(1, 10) * ttl,
      },
      shared: random.chance(0.25),
      locality: {
        mode: random.pick(['variable', 'sequential']),
        reversal: random.pick(['full', 'java']),
        reseed: random.chance(0.5),
      },
      families: random.pick(FAMILIES),
    },
    duration: random.between(5, 12) * ttl,
    // Clocks may have been up to four ttls ahead, and fences with them; then some tries, each of which may take a ttl.
    recovery: 12 * longest + 2 * store.maxTtl + 4 * maxSkew + 20_000,
  };
  const tellsLineage = seed % 5 === 0;
  const longTtl = tellsLineage && durable && seed % 2 === 0 ? 6 * store.maxTtl : undefined;
  return {
    ...plan,
    longTtl,
    recovery: plan.recovery + 12 * (longTtl ?? 0),
    store: { ...store, tellsLineage, hasClock: store.hasClock || tellsLineage },
  };
}

/** Few ids in a tick, so that ticks fill. */
function makeLayout(random: SeededRandom): Layout {
  return defineLayout({
    epoch: EPOCH,
    timeBits: 41,
    nodeBits: 5,
    sequenceBits: random.between(0, 4),
    tick: random.pick([1, 1, 1, 10]),
    order: random.pick([
      ['time', 'node', 'sequence'],
      ['time', 'sequence', 'node'],
    ]),
  });
}
