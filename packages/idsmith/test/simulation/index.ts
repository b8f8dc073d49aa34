import { enableThreads } from 'idsmith';
import { simulateKeys } from '../../../shard/test/simulation/index.ts';
import { simulateLeases } from '../lease/simulation/index.ts';
import { simulateSequences } from '../sequence/simulation/index.ts';
import { simulateCopies } from './copies/index.ts';
import type { Outcome } from './outcome.ts';

export { simulateScale } from '../lease/simulation/scale.ts';
export { simulateMany } from './outcome.ts';

// The long runs load this file as a bundle, and some worlds have generators that threads share.
enableThreads();

/** The run of one seed, told line by line if somebody listens. */
type Run = (seed: number, tell?: (line: string) => void) => Promise<Outcome>;

/** The kinds of worlds. */
export const KINDS: Readonly<Record<string, Run>> = {
  leases: (seed, tell) => simulateLeases(seed, undefined, tell),
  copies: (seed, tell) => simulateCopies(seed, undefined, tell),
  sequences: (seed, tell) => simulateSequences(seed, undefined, tell),
  keys: (seed, tell) => simulateKeys(seed, undefined, tell),
};
