import { InvalidOptionError } from './errors.js';
import { show } from './options.js';

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

/**
 * The option `random` or the runtime's cryptographic source.
 *
 * @throws InvalidOptionError when it has no method `fill`
 */
export function requireRandom(random: RandomSource | undefined): RandomSource {
  if (random === undefined) return systemRandom;
  if (typeof random?.fill === 'function') return random;
  throw new InvalidOptionError(`random must have a method fill(), ${show(random)} has none`);
}

/** A whole number from 0 to 2^32 − 1. */
export function randomUint32(random: RandomSource): number {
  const word = new Uint32Array(1);
  random.fill(new Uint8Array(word.buffer));
  return word[0] as number;
}
