import { pauseUnlessAborted } from './abort.js';
import { systemTimer, type Timer } from './timer.js';

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

/** The rules of {@link retry}. Without `attempts` and `budget`, only an error that is not transient ends the attempts. */
export interface RetryRules {
  /** True if another attempt may succeed where this error was thrown. */
  readonly isTransient: (error: unknown) => boolean;
  /** The pauses between attempts. */
  readonly pauses: Backoff;
  /** The most attempts. Default no limit. */
  readonly attempts?: number;
  /** The time after which a failure is final, ms from the first attempt. Default no limit. */
  readonly budget?: number;
  /** The error in place of a transient one that was thrown too often. Default that error itself. */
  readonly giveUp?: (error: unknown) => Error;
  /** Ends a pause. {@link retry} then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Default the runtime's timers. */
  readonly timer?: Timer;
}

/**
 * The result of the first attempt that succeeds. An attempt that fails with a transient error is repeated after a pause.
 *
 * @throws the first error that is not transient, or the error of the last attempt
 *
 * @example
 * await retry(() => client.query(sql), { isTransient: isDeadlock, pauses: { unit: 5, longest: 250 }, budget: 10_000 });
 */
export async function retry<T>(attempt: () => Promise<T> | T, rules: RetryRules): Promise<T> {
  const { isTransient, pauses, attempts, budget, giveUp = (error) => error, signal } = rules;
  const startedAt = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error)) throw error;
      const isSpent = budget !== undefined && performance.now() - startedAt > budget;
      if (isSpent || tries === attempts) throw giveUp(error);
    }
    await pauseUnlessAborted(rules.timer ?? systemTimer, backoff(tries, pauses), false, signal);
  }
}
