/** The pauses between the tries of an operation. */
export interface Backoff {
  /** Milliseconds. The pause after try `n` is at most `unit` · 2^n. */
  readonly unit: number;
  /** The longest pause, ms. Default no limit. */
  readonly longest?: number;
  /** The shortest pause as a fraction of the longest one at that try. Default a half. */
  readonly floor?: number;
}

/**
 * The pause after a failed try, ms. The pause doubles from try to try. Jitter keeps clients that failed together from trying
 * again together.
 *
 * @param tries the number of tries so far, from 1
 * @param random gives a number from 0 up to, not including, 1
 *
 * @example
 * backoff(3, { unit: 5, longest: 250 }); // from 20 to 40
 */
export function backoff(
  tries: number,
  { unit, longest, floor = 0.5 }: Backoff,
  random = Math.random,
): number {
  const most = Math.min(longest ?? Number.POSITIVE_INFINITY, unit * 2 ** tries);
  return most * (floor + (1 - floor) * random());
}
