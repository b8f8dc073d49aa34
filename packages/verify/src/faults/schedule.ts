import { setTimeout as sleep } from 'node:timers/promises';
import { between, seededRandom, shuffledForever } from '../random.js';

/** Faults of a process. */
export const PROCESS_FAULTS = [
  'killed with -9',
  'stopped for longer than its lease',
  'clock an hour ahead',
  'clock an hour behind',
  'ended and started again',
] as const;

/** The fault that costs a store without a clock of its own a node id for an hour. */
export const CLOCK_AHEAD = PROCESS_FAULTS[2];

/** Faults of a process that is copied with its memory, as virtual machines are. */
export const COPY_FAULTS = [
  'copied, and told so',
  'copied, and the copy leaves the window to its original',
] as const;

/** Clocks that jump by a ttl, for stores without a clock: a longer jump would take node ids out of use for as long. */
export const SHORT_JUMPS = ['clock a little ahead', 'clock a little behind'] as const;

/** Faults of the connections to the store. */
export const NETWORK_FAULTS = [
  'connections cut',
  'messages delayed',
  'connections half-open',
  'connections half-open, answers lost',
] as const;

/** One fault of a schedule. */
export interface Step {
  readonly fault: string;
  /** Picks what is affected: a number from 0 up to, not including, 1. */
  readonly place: number;
  /** The strength of the fault, from 0 up to, not including, 1. */
  readonly strength: number;
  /** A share of the longest pause before the fault, from 0 up to, not including, 1. */
  readonly pause: number;
}

/**
 * The faults of a seed, in order, without end: each of them once in every round.
 *
 * @param once faults that come in the first round only
 */
export function* stepsOf(
  seed: number,
  faults: readonly string[],
  once: readonly string[] = [],
): Generator<Step> {
  const random = seededRandom(seed);
  let number = 0;
  if (faults.length === 0) return;
  for (const fault of shuffledForever(random, faults)) {
    const step = { fault, place: random(), strength: random(), pause: random() };
    if (number++ < faults.length || !once.includes(fault)) yield step;
  }
}

/** How long faults come. */
export interface TrackOptions {
  /** The least and the longest pause between two faults, ms. */
  readonly pause: readonly [from: number, to: number];
  /** The number of faults of each kind so far. */
  readonly counts: Map<string, number>;
  /** True if no more faults shall come. */
  isOver(done: number): boolean;
  readonly signal?: AbortSignal;
}

/** Applies one fault after another, with a pause before each. @throws the reason of the signal, unless it is over then */
export async function runTrack(
  steps: Iterable<Step>,
  apply: (step: Step) => Promise<void>,
  { pause: [from, to], counts, isOver, signal }: TrackOptions,
): Promise<void> {
  let done = 0;
  for (const step of steps) {
    const pause = between(() => step.pause, from, to);
    await sleep(pause, undefined, { ...(signal && { signal }) }).catch(() => undefined);
    if (isOver(done++)) return;
    signal?.throwIfAborted();
    counts.set(step.fault, (counts.get(step.fault) ?? 0) + 1);
    await apply(step);
  }
}
