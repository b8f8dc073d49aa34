import { bytesToHex } from '../encoding/hex.js';
import { freshName } from '../support/fresh-name.js';
import type { LeaseSettings } from './options.js';

type Random = Pick<LeaseSettings, 'random'>;

/** A number from 0 up to, not including, 1. */
export function randomFraction({ random }: Random): number {
  const bytes = new Uint8Array(4);
  random.fill(bytes);
  return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
}

/** A name of 128 random bits. */
export function randomName({ random }: Random): string {
  const bytes = new Uint8Array(16);
  random.fill(bytes);
  return bytesToHex(bytes);
}

/** An owner's name that no attempt ever had, not even one of a copy of this process. */
export function freshOwner({ random }: Random): string {
  return freshName(random);
}
