/**
 * Bytes in memory that is not shared: `Uint8Array<ArrayBuffer>`, written so that compilers before TypeScript 5.7 know it, too.
 * There `Uint8Array` has no parameter.
 */
type OwnBytes = ReturnType<Uint8Array['slice']>;

/** A source of randomness. Pass your own to make a test repeatable. */
export interface RandomSource {
  /** Fills all of `target` with random bytes. */
  fill(target: OwnBytes): void;
}

/** The runtime's cryptographic source. Throws if the runtime has none: there is no weaker fallback. */
export const systemRandom: RandomSource = {
  fill: (target) => {
    crypto.getRandomValues(target);
  },
};

/** A random number from 0 up to, not including, 1. */
export function randomFraction(random: RandomSource): number {
  const bytes = new Uint8Array(4);
  random.fill(bytes);
  return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
}
