import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RateLimit } from '../../../../src/shard/reshard/move/rate-limit.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
});

it('A rate is kept to the millisecond, also after a batch of many seconds', async () => {
  const limit = new RateLimit(10);
  // 100 keys take 10 s, and 100 ms of that are caught up on.
  await limit.wait(100);
  let isOver = false;
  const waiting = limit.wait(1).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(9_899);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
  await waiting;
});
