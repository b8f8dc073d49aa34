import type { SeededRandom } from '../random.ts';
import { makeWeather, type Weather } from '../wire.ts';
import { LEASED, type LeaseTimes, type SequencePlan } from './programs.ts';

/** Everything about a run that is settled before it starts. */
export interface Plan extends SequencePlan {
  readonly family: (typeof LEASED)[number] | 'plain uuid7' | 'sequence';
  readonly lease: LeaseTimes;
  readonly blockSize: number;
  readonly weather: Weather;
  /** The time after which a sequence gives up a request, ms. */
  readonly timeout: number;
  readonly processes: number;
  /** How long copies are made, ms. */
  readonly duration: number;
}

export function makePlan(random: SeededRandom): Plan {
  const ttl = random.between(300, 3000);
  const hasHook = random.chance(0.5);
  return {
    family: random.pick([...LEASED, 'plain uuid7', 'sequence'] as const),
    hasHook,
    lease: { ttl, maxSkew: random.between(0, Math.floor(ttl / 4)) },
    // Without a hook, nothing may be at hand between two calls.
    blockSize: hasHook ? random.between(1, 20) : 1,
    prefetch: hasHook ? random.between(0, 3) : 0,
    weather: makeWeather(random, Math.floor(ttl / 10), random.between(1, 3) * ttl),
    timeout: ttl,
    processes: random.between(2, 3),
    duration: random.between(4, 10) * ttl,
  };
}
