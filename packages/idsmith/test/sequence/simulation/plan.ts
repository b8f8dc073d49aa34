import type { SequenceOptions } from 'idsmith';
import type { SequenceUse } from '../../../src/sequence/sequences.ts';
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
  /** Whether the store tells its lineage and may go back. Then everything takes longer, for ceilings become old, and more ids are drawn. */
  readonly rewinds: boolean;
  /** The longest pauses of a client and between two faults, ms. */
  readonly pauses: { readonly client: number; readonly fault: number };
  /** The most ids that a client asks for at once. */
  readonly most: number;
  /** How long faults happen, ms. */
  readonly duration: number;
}

const PREFETCHES: readonly (readonly Required<SequenceUse>['prefetch'][])[] = [
  [0],
  [1, 3],
  ['adaptive'],
  [0, 2, 'adaptive'],
];

/** @param seed every fifth one has a store that goes back */
export function makePlan(random: SeededRandom, seed: number): Plan {
  const timeout = random.between(20, 300);
  const isChurning = random.chance(0.3);
  const isCycled = !isChurning && random.chance(0.25);
  const step = random.pick([1, 1, -1, 3, -2]);
  const blockSize = isChurning ? random.between(1, 3) : random.between(1, 8);
  const span = Math.abs(step) * blockSize * random.between(4, 40);
  const weather = makeWeather(random, Math.max(1, Math.floor(timeout / 4)), random.between(1, 6) * timeout);
  const isBounded = isCycled || random.chance(0.3);
  const plan: Plan = {
    processes: random.between(2, 4),
    definition: {
      start: 1000,
      step,
      blockSize,
      cycle: isCycled && random.chance(0.5),
      ...(isBounded && (step > 0 ? { min: 1000, max: 1000 + span } : { min: 1000 - span, max: 1000 })),
    },
    weather: isChurning ? { ...weather, loss: 0.1, repeat: 0.3, late: 0.2 } : weather,
    timeout,
    prefetch: random.pick(PREFETCHES),
    isCycled,
    isChurning,
    isAltered: !isChurning && random.chance(0.5),
    isRemoved: random.chance(isChurning ? 0.3 : 0.15),
    rewinds: false,
    pauses: { client: 120, fault: isChurning ? 30 : 200 },
    most: 12,
    duration: random.between(1500, 5000),
  };
  return seed % 5 === 0 ? rewinding(plan, random) : plan;
}

/** The same with a store that goes back. Ranges are wide: a ceiling is never far enough ahead in a narrow one. */
function rewinding({ definition, ...plan }: Plan, random: SeededRandom): Plan {
  const { step = 1, blockSize = 1 } = definition;
  return {
    ...plan,
    definition: { start: 1000, step, blockSize },
    rewinds: true,
    isAltered: false,
    isCycled: false,
    isRemoved: false,
    pauses: { client: random.between(500, 20_000), fault: random.between(2000, 30_000) },
    most: random.between(12, 250 * blockSize),
    duration: random.between(60_000, 400_000),
  };
}
