import type { Random } from '../../packages/idsmith/src/cli/verify/random.ts';

export {
  between,
  type Random,
  seededRandom,
  shuffledForever,
} from '../../packages/idsmith/src/cli/verify/random.ts';

/** Any one of them. */
export function anyOf<T>(random: Random, things: readonly T[]): T {
  const thing = things[Math.floor(random() * things.length)];
  if (thing === undefined) throw new Error('there is nothing to choose from');
  return thing;
}
