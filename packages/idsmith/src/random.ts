/** A source of randomness. Pass your own to make a test repeatable. */
export interface RandomSource {
  /** Fills all of `target` with random bytes. */
  fill(target: Uint8Array): void;
}

/** The runtime's cryptographic source. Throws if the runtime has none: there is no weaker fallback. */
export const systemRandom: RandomSource = {
  fill: (target) => {
    // Older compilers have no type for the buffer of an array, so the interface does not tell that it is not shared.
    crypto.getRandomValues(target as Uint8Array<ArrayBuffer>);
  },
};
