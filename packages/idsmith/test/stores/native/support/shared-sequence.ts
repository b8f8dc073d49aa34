import { type BlockSource, memoryStore, type NativeSequenceOptions, Sequences } from 'idsmith';
import {
  eclipseLink,
  hibernatePooled,
  hibernatePooledLo,
  type Numbering,
  plainNextval,
} from './hibernate.ts';

/** A sequence of a real database, which several programs draw from. */
export interface SharedSequence {
  readonly start: bigint;
  readonly size: bigint;
  draw(): Promise<bigint>;
  source(options: NativeSequenceOptions): BlockSource;
}

/** Programs that may share a sequence with each other, by the way in which they read its values. */
export const PROGRAMS = {
  'pooled-lo': (shared: SharedSequence) => [
    () => hibernatePooledLo(shared.draw, shared.size),
    () => plainNextval(shared.draw),
  ],
  pooled: (shared: SharedSequence) => [
    () => hibernatePooled(shared.draw, shared.size, shared.start),
    // A mapping that does not name the sequence's own start.
    () => hibernatePooled(shared.draw, shared.size, shared.start + 1n),
    () => eclipseLink(shared.draw, shared.size),
    () => plainNextval(shared.draw),
  ],
} as const;

/**
 * Ids that our sequences and other programs take from one sequence, in an order that the seed decides. Programs stop and
 * start anew on the way.
 */
export async function idsOfMany(
  shared: SharedSequence,
  options: NativeSequenceOptions,
  partners: readonly (() => Numbering)[],
  seed: number,
  rounds: number,
): Promise<bigint[]> {
  const random = randomOf(seed);
  const programs = [
    ...partners,
    () => ours(shared.source(options), 0),
    () => ours(shared.source(options), 1),
  ];
  const running = programs.map((start) => start());
  const ids: bigint[] = [];
  for (let round = 0; round < rounds; round++) {
    const i = random(programs.length);
    if (random(8) === 0) running[i] = programs[i]!();
    for (let n = random(2 * Number(shared.size)); n >= 0; n--) ids.push((await running[i]!.next()).value);
  }
  return ids;
}

/** One of our sequences as a program among others. */
export async function* ours(source: BlockSource, prefetch: number): Numbering {
  const sequence = await new Sequences(memoryStore()).get('x', { source, prefetch });
  for (;;) yield await sequence.next();
}

/** Whole numbers below a bound that follow from the seed (xorshift). */
export function randomOf(seed: number): (below: number) => number {
  let state = (seed * 0x9e3779b9) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
