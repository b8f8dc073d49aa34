/** A source of randomness. Pass your own to make a test repeatable. */
export interface RandomSource {
  /** Fills all of `target` with random bytes. */
  fill(target: Uint8Array<ArrayBuffer>): void;
}

/** The runtime's cryptographic source. Throws if the runtime has none: there is no weaker fallback. */
export const systemRandom: RandomSource = {
  fill: (target) => {
    crypto.getRandomValues(target);
  },
};
