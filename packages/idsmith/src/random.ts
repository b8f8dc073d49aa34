/** Where randomness comes from: fills all of `target`. Give your own to make a test repeatable. */
export interface RandomSource {
  fill(target: Uint8Array<ArrayBuffer>): void;
}

/** The runtime's cryptographic source. Where there is none this throws; nothing weaker takes its place. */
export const systemRandom: RandomSource = {
  fill: (target) => {
    crypto.getRandomValues(target);
  },
};
