import type { SequenceOptions, SequenceUse } from 'idsmith';
import type { SeededRandom } from '../../simulation/random.ts';
import { makeWeather, type Weather } from '../../simulation/wire.ts';

/** Everything about a run that is settled before it starts. */
export interface Plan {
  readonly processes: number;
  readonly definition: SequenceOptions;
  readonly weather: Weather;
  /** The time after which a client gives up a request, ms. The request may still arrive. */
  readonly timeout: number;
  readonly prefetch: readonly Required<SequenceUse>['prefetch'][];
  /** Whether the sequence may be altered, also to a cycle and back, and removed and defined again. */
  readonly isAltered: boolean;
  readonly isCycled: boolean;
  readonly isRemoved: boolean;
  /** Whether the sequence is closed and opened all the time, so that many tails go back and others take the same ids. */
  readonly isChurning: boolean;
  /** How long faults happen, ms. */
  readonly duration: number;
}

const PREFETCHES: readonly (readonly Required<SequenceUse>['prefetch'][])[] = [
  [0],
  [1, 3],
  ['adaptive'],
  [0, 2, 'adaptive'],
];

export function makePlan(random: SeededRandom): Plan {
  const timeout = random.between(20, 300);
  const isChurning = random.chance(0.3);
  const isCycled = !isChurning && random.chance(0.25);
  const step = random.pick([1, 1, -1, 3, -2]);
  const blockSize = isChurning ? random.between(1, 3) : random.between(1, 8);
  const span = Math.abs(step) * blockSize * random.between(4, 40);
  const weather = makeWeather(random, Math.max(1, Math.floor(timeout / 4)), random.between(1, 6) * timeout);
  const isBounded = isCycled || random.chance(0.3);
  return {
    processes: random.between(2, 4),
    definition: {
      ...{ start: 1000, step, blockSize, cycle: isCycled && random.chance(0.5) },
      ...(isBounded && (step > 0 ? { min: 1000, max: 1000 + span } : { min: 1000 - span, max: 1000 })),
    },
    weather: isChurning ? { ...weather, loss: 0.1, repeat: 0.3, late: 0.2 } : weather,
    timeout,
    prefetch: random.pick(PREFETCHES),
    ...{ isCycled, isChurning, isAltered: !isChurning && random.chance(0.5) },
    isRemoved: random.chance(isChurning ? 0.3 : 0.15),
    duration: random.between(1500, 5000),
  };
}
