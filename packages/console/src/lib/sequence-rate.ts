import type { SequenceJson } from '../api/types.js';
import { readUsage } from './sequence-usage.js';

/** The progress of a sequence at one moment. */
export interface UsageSample {
  /** Unix ms. */
  readonly at: number;
  /** The ids that the server has handed out since its start. */
  readonly handedOut: number;
  /** The start of the server, Unix ms. */
  readonly since: number;
  /** The ids in blocks that have left the store, for any server or process. */
  readonly used: bigint;
}

/** The time over which a rate is measured, ms. */
const WINDOW = 60_000;
/** The shortest history for a rate, ms. */
const RATE_HISTORY = 5000;
/** The shortest history for a forecast, ms. */
const FORECAST_HISTORY = 30_000;
/** The fewest steps in a history for a forecast. One burst says nothing about the next hour. */
const FORECAST_STEPS = 3;

/** The samples of each sequence, by name. */
export type UsageSamples = ReadonlyMap<string, readonly UsageSample[]>;

/** Adds a sample of each sequence of a page. Samples of other pages stay until they are too old. */
export function withSamples(
  samples: UsageSamples,
  sequences: readonly SequenceJson[],
  at: number,
): UsageSamples {
  const next = new Map([...samples].filter(([, kept]) => at - (kept.at(-1)?.at ?? 0) <= WINDOW));
  for (const sequence of sequences) next.set(sequence.name, appended(next.get(sequence.name), sequence, at));
  return next;
}

function appended(before: readonly UsageSample[] = [], sequence: SequenceJson, at: number): UsageSample[] {
  const usage = readUsage(sequence);
  if (usage === undefined) return [];
  const { handedOut, since } = sequence;
  const sample = { at, handedOut, since, used: usage.used };
  const last = before.at(-1);
  // The count begins again when the server starts, and when the sequence is replaced.
  const isNew = last === undefined || last.since !== since || handedOut < last.handedOut;
  // Without a cycle, a lower number means that the sequence was replaced or altered.
  if (isNew || (usage.used < last.used && !sequence.cycle)) return [sample];
  return [...before.filter((each) => at - each.at <= WINDOW), sample];
}

/** The time between the first and the last sample, ms. */
function historyOf(samples: readonly UsageSample[]): number {
  return (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
}

/** The ids per second that this server hands out; `undefined` until the history is long enough. */
export function rateOf(samples: readonly UsageSample[] = []): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || historyOf(samples) < RATE_HISTORY) return undefined;
  return ((last.handedOut - first.handedOut) * 1000) / (last.at - first.at);
}

/** The samples that differ from the one before. */
function stepsOf(
  samples: readonly UsageSample[],
  read: (sample: UsageSample) => number | bigint,
): UsageSample[] {
  return samples.filter((sample, i) => i > 0 && read(sample) !== read(samples[i - 1] as UsageSample));
}

/**
 * The ids per second that leave the store for everybody: measured from block to block, because the number leaps by whole blocks.
 * `undefined` until there are enough blocks.
 */
function storeRateOf(samples: readonly UsageSample[]): number | undefined {
  const steps = stepsOf(samples, ({ used }) => used);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || steps.length < FORECAST_STEPS) return undefined;
  return (Number(last.used - first.used) * 1000) / (last.at - first.at);
}

/** The time when a sequence runs out at its present rate. */
export type Forecast =
  | { readonly kind: 'measuring' | 'exhausted' | 'cycle' }
  /** Nobody has drawn an id for `ms`. */
  | { readonly kind: 'idle'; readonly ms: number }
  | {
      readonly kind: 'date';
      readonly at: number;
      /** How far the forecast can be trusted, if it is the server's. */
      readonly confidence?: string;
    }
  /** Too far ahead for a date. */
  | { readonly kind: 'far'; readonly years: number };

const YEAR = 31_556_952_000;
const FAR = 1000 * YEAR;

export function forecastOf(
  sequence: SequenceJson,
  samples: readonly UsageSample[] = [],
  now: number,
): Forecast {
  if (sequence.exhausted) return { kind: 'exhausted' };
  if (sequence.cycle) return { kind: 'cycle' };
  // The server has watched the sequence for longer than this page.
  const { forecast } = sequence;
  if (forecast && forecast.seconds !== null) {
    const left = forecast.seconds * 1000;
    if (left > FAR) return { kind: 'far', years: left / YEAR };
    return { kind: 'date', at: now + left, confidence: forecast.confidence };
  }
  // Unused for as long as the server has looked.
  if (forecast && forecast.rate === 0 && forecast.over >= 60 && historyOf(samples) < FORECAST_HISTORY)
    return { kind: 'idle', ms: forecast.over * 1000 };
  const rate = forecastRateOf(samples);
  if (rate === undefined) return { kind: 'measuring' };
  if (rate === 0) return { kind: 'idle', ms: historyOf(samples) };
  const left = (Number(readUsage(sequence)?.left ?? 0n) / rate) * 1000;
  return left > FAR ? { kind: 'far', years: left / YEAR } : { kind: 'date', at: now + left };
}

/** The rate of a forecast: the higher one of this server's and everybody's. `undefined` until there is enough history. */
function forecastRateOf(samples: readonly UsageSample[]): number | undefined {
  if (historyOf(samples) < FORECAST_HISTORY) return undefined;
  const steps = stepsOf(samples, ({ handedOut }) => handedOut).length;
  const storeRate = storeRateOf(samples);
  if (steps >= FORECAST_STEPS) return Math.max(rateOf(samples) ?? 0, storeRate ?? 0);
  const isIdle = steps === 0 && stepsOf(samples, ({ used }) => used).length === 0;
  return isIdle ? 0 : storeRate;
}
