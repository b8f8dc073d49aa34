import type { Block, SequenceOptions, SequenceStore } from '../sequence/port.js';

/** A case of a sequence store: its name, and a check that uses the sequence `name`. */
export type SequenceCase = [name: string, check: (store: SequenceStore, name: string) => Promise<void>];

/** The limits of signed 64-bit numbers. */
export const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Defines a sequence, and returns a function that allocates blocks and returns their ids. */
export async function defined(store: SequenceStore, name: string, options: SequenceOptions = {}) {
  await store.defineSequence({ name, ...options });
  return async (blocks = 1) => idsOf(await store.allocate(name, blocks));
}

/** The ids of a block. */
export function idsOf({ first, step, count }: Block): bigint[] {
  return Array.from({ length: count }, (_, i) => first + BigInt(step) * BigInt(i));
}
