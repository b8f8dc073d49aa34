import type { Sums } from './rings.js';

// When a sequence runs out, from what was taken of it so far. Pure.

/** How far a forecast can be trusted. */
type Confidence = 'none' | 'low' | 'medium' | 'high';

/** The end of a sequence, if it is used as it was. */
export interface Forecast {
  /** Seconds until no block is left: 0 for a sequence at its end; `null` if it is not used, or is a cycle. */
  readonly seconds: number | null;
  /** Ids a second that leave the store, for everybody. */
  readonly rate: number;
  /** The length of the history that the rate is from, seconds. */
  readonly over: number;
  readonly confidence: Confidence;
}

/** The history that a forecast needs at least, seconds. */
const LEAST = 30;

const DAY = 86_400;

/**
 * The forecast of a sequence. The rate is that of the last day, or that of the last hour if it is higher: a forecast errs on the early
 * side. The confidence grows with the history, and falls where the hour differs much from the day.
 *
 * @param remaining ids that blocks will reach; `undefined` for a cycle
 * @param taken ids taken from the store
 * @param watched seconds since the sequence was first seen
 */
export function forecastOf(remaining: bigint | undefined, taken: Sums, watched: number): Forecast {
  if (remaining === 0n) return { seconds: 0, rate: 0, over: 0, confidence: 'high' };
  const hour = taken.hour / Math.max(1, Math.min(watched, 3600));
  const day = taken.day / Math.max(1, Math.min(watched, DAY));
  const rate = Number(Math.max(hour, day).toPrecision(4));
  // Whole minutes: whoever asks again soon gets the same answer.
  const over = Math.min(watched - (watched % 60), DAY);
  if (remaining === undefined || watched < LEAST || rate === 0)
    return { seconds: null, rate, over, confidence: 'none' };
  const seconds = Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(remaining) / rate));
  return { seconds, rate, over, confidence: confidenceOf(watched, hour, day) };
}

function confidenceOf(watched: number, hour: number, day: number): Confidence {
  const isSteady = Math.max(hour, day) <= 3 * Math.min(hour, day);
  if (watched < 600) return 'low';
  if (watched < 6 * 3600) return isSteady ? 'medium' : 'low';
  return isSteady ? 'high' : 'medium';
}
