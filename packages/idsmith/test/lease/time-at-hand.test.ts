import { memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { meanwhile, setUp, TTL } from './set-up.ts';

const SKEW = 10_000;
const ON_THE_WAY = 1000;

describe('a time that is at hand since a lost race', () => {
  it('never dates a namespace that the store has lost since', async () => {
    let kept = memoryStore();
    const { time, store, lease } = setUp({ durable: false, maxTtl: TTL });
    store.listLeases = (namespace) => kept.listLeases(namespace);
    store.swapLease = (...args) => kept.swapLease(...args);
    const options = { size: 1, reacquire: false };
    await (await meanwhile(time, lease(options))).release();
    let writtenAt = 0;
    let isRefused = false;
    store.swapLease = async (namespace, expected, next) => {
      if (next.id >= 0 && !isRefused) {
        isRefused = true;
        kept = memoryStore();
        return false;
      }
      const isDone = await kept.swapLease(namespace, expected, next);
      if (next.fence === Number.MAX_SAFE_INTEGER) writtenAt = time.now += 5000;
      return isDone;
    };
    const fresh = await meanwhile(time, lease(options));
    const birth = (await kept.listLeases('test')).find(({ id }) => id === -1);
    expect(writtenAt).toBeGreaterThan(0);
    expect(birth?.fence).toBeGreaterThanOrEqual(writtenAt + TTL + ON_THE_WAY + 2 * SKEW);
    expect(fresh.from).toBeGreaterThanOrEqual(birth!.fence);
  });

  it('is read again when the clock has gone back', async () => {
    const { time, store, inner, lease } = setUp();
    const clock = time.clock();
    let questions = 0;
    store.now = async () => {
      questions++;
      return time.now;
    };
    let isRefused = false;
    store.swapLease = async (...args) => {
      if (isRefused) return inner.swapLease(...args);
      isRefused = true;
      clock.offset = -1;
      return false;
    };
    await meanwhile(time, lease({ size: 1, clock }));
    expect(questions).toBe(2);
  });
});
