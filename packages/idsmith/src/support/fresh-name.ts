import { bytesToHex } from '../encoding/hex.js';
import { type RandomSource, systemRandom } from '../random.js';

/**
 * A name that was never used. Copies of a process (VM snapshots) go on with the same random state, so the name also has the
 * wall-clock time and the monotonic time at which it is made, to the nanosecond where the runtime tells it.
 */
export function freshName(random: RandomSource = systemRandom): string {
  const name = randomName(random);
  const nanos = Math.round(performance.now() * 1e6);
  return `${name}-${Date.now().toString(36)}-${nanos.toString(36)}`;
}

/** A name of 128 random bits. */
export function randomName(random: RandomSource): string {
  const bytes = new Uint8Array(16);
  random.fill(bytes);
  return bytesToHex(bytes);
}
