import { describe, expect, it } from 'vitest';
import { type RetryRules, retry } from '../../src/support/retry.ts';
import type { Timer } from '../../src/support/timer.ts';

/** A timer whose pauses are over at once, and are noted. */
function quickTimer(pauses: number[]): Timer {
  return {
    after(ms, fn) {
      pauses.push(ms);
      queueMicrotask(fn);
      return () => undefined;
    },
  };
}

const rules = (more: Partial<RetryRules> = {}): RetryRules => ({
  isTransient: (error) => (error as Error).message === 'busy',
  pauses: { unit: 5, floor: 1 },
  timer: quickTimer([]),
  ...more,
});

/** An attempt that fails with these messages, one after the other, and then succeeds. */
function failing(...messages: string[]) {
  const attempt = async () => {
    attempt.calls++;
    const message = messages.shift();
    if (message !== undefined) throw new Error(message);
    return 'done';
  };
  attempt.calls = 0;
  return attempt;
}

describe('retry', () => {
  it('repeats an attempt that fails for a while, with longer and longer pauses', async () => {
    const pauses: number[] = [];
    const attempt = failing('busy', 'busy', 'busy');
    expect(await retry(attempt, rules({ timer: quickTimer(pauses) }))).toBe('done');
    expect(pauses).toEqual([10, 20, 40]);
  });

  it('throws an error that is not transient at once', async () => {
    const attempt = failing('busy', 'wrong');
    await expect(retry(attempt, rules())).rejects.toThrow('wrong');
    expect(attempt.calls).toBe(2);
  });

  it('ends after the given number of attempts with the last error', async () => {
    const attempt = failing('busy', 'busy', 'busy');
    await expect(retry(attempt, rules({ attempts: 3 }))).rejects.toThrow('busy');
    expect(attempt.calls).toBe(3);
    expect(await retry(failing('busy', 'busy'), rules({ attempts: 3 }))).toBe('done');
  });

  it('ends with the error that giveUp makes of the last one', async () => {
    const giveUp = (cause: unknown) => new Error('given up', { cause });
    const ended = retry(failing('busy', 'busy'), rules({ attempts: 2, giveUp }));
    await expect(ended).rejects.toMatchObject({ message: 'given up', cause: { message: 'busy' } });
    await expect(retry(failing('wrong'), rules({ giveUp }))).rejects.toThrow('wrong');
  });

  it('ends with the first failure after its budget', async () => {
    const attempt = failing('busy', 'busy');
    await expect(retry(attempt, rules({ budget: -1 }))).rejects.toThrow('busy');
    expect(attempt.calls).toBe(1);
    expect(await retry(failing('busy', 'busy'), rules({ budget: 60_000 }))).toBe('done');
  });

  it('ends a pause with the reason of the signal', async () => {
    const { signal } = new AbortController();
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(retry(failing('busy'), rules({ signal: aborted }))).rejects.toThrow('enough');
    expect(await retry(failing('busy'), rules({ signal }))).toBe('done');
  });

  it('takes an attempt that is not asynchronous', async () => {
    expect(await retry(() => 7, rules())).toBe(7);
  });
});
