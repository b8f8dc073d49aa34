import { pauseUnlessAborted } from './abort.js';
import { type Backoff, backoff } from './backoff.js';
import { systemTimer, type Timer } from './timer.js';

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
