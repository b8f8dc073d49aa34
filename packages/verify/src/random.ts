/** Numbers from 0 up to, not including, 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number from `from` up to `to`. */
export function between(random: Random, from: number, to: number): number {
  return from + (to - from) * random();
}

/** All of them in any order, then again in another order, without end. */
export function* shuffledForever<T>(random: Random, things: readonly T[]): Generator<T, never> {
  for (;;) {
    const left = [...things];
    while (left.length > 0) yield left.splice(Math.floor(random() * left.length), 1)[0] as T;
  }
}
