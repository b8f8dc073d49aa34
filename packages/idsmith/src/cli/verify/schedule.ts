import { between, type Random, seededRandom, shuffledForever } from './random.js';
import { REQUEST_FAULTS, type RequestFault } from './request-faults.js';

/** What befalls a process. */
export const PROCESS_FAULTS = [
  'killed with -9',
  'stopped for longer than its lease',
  'clock an hour ahead',
  'clock an hour behind',
  'ended and started again',
] as const;
type ProcessFault = (typeof PROCESS_FAULTS)[number];

/** What befalls the connections to the store. */
export const NETWORK_FAULTS = [
  'connections cut',
  'messages delayed',
  'connections half-open',
  'connections half-open, answers lost',
] as const;
type NetworkFault = (typeof NETWORK_FAULTS)[number];

export type Fault = ProcessFault | RequestFault | NetworkFault;

/** One fault of a schedule. */
export interface Step {
  readonly fault: Fault;
  /** Picks the victim: a number from 0 up to, not including, 1. */
  readonly victim: number;
  /** The strength of the fault, from 0 up to, not including, 1. */
  readonly strength: number;
  /** The pause after the fault, ms. */
  readonly pause: number;
}

/** Faults of which a run has two schedules at the same time: one for processes and their requests, one for the network. */
export interface Tracks {
  readonly processes: Iterable<Step>;
  readonly network: Iterable<Step>;
}

/** Options of {@link tracksOf}. */
export interface ScheduleOptions {
  /** True if processes can be stopped and continued: not on Windows. */
  readonly canStop: boolean;
  /** True if the store compares clocks. Where it does not, a clock ahead costs a node id for an hour, so it comes once. */
  readonly hasClock: boolean;
  /** True if a proxy stands before the store. */
  readonly hasProxy: boolean;
}

/** The faults of a seed, in order, without end. */
export function tracksOf(seed: number, { canStop, hasClock, hasProxy }: ScheduleOptions): Tracks {
  const faults = [...PROCESS_FAULTS, ...REQUEST_FAULTS].filter(
    (fault) => canStop || fault !== 'stopped for longer than its lease',
  );
  return {
    processes: steps(seed, faults, hasClock ? [] : ['clock an hour ahead']),
    network: hasProxy ? steps(seed + 1, NETWORK_FAULTS, []) : [],
  };
}

/** @param once faults that come in the first round only */
function* steps(seed: number, faults: readonly Fault[], once: readonly Fault[]): Iterable<Step> {
  const random: Random = seededRandom(seed);
  let number = 0;
  for (const fault of shuffledForever(random, faults)) {
    const step = { fault, victim: random(), strength: random(), pause: between(random, 100, 400) };
    if (number++ < faults.length || !once.includes(fault)) yield step;
  }
}
