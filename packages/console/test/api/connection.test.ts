import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connection, connectionLost, retryNow } from '../../src/api/connection.ts';

/** The times at which the server was asked for its health, ms. */
let checks: number[];
let isUp: boolean;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  [checks, isUp] = [[], false];
  vi.stubGlobal('fetch', async () => {
    checks.push(Date.now());
    if (!isUp) throw new TypeError('Failed to fetch');
    return Response.json({ status: 'ok' });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('A server that is away is checked less and less often, until it responds', async () => {
  connectionLost();
  expect(connection.get()).toEqual({ isUnreachable: true, since: 0 });
  await vi.advanceTimersByTimeAsync(31_500);
  expect(checks).toEqual([500, 1500, 3500, 7500, 15_500, 23_500, 31_500]);
  isUp = true;
  await vi.advanceTimersByTimeAsync(8000);
  expect(connection.get().isUnreachable).toBe(false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(checks).toHaveLength(8);
});

it('A server that is away is checked at once on request, and then as after the first failure', async () => {
  connectionLost();
  await vi.advanceTimersByTimeAsync(4000);
  retryNow();
  await vi.advanceTimersByTimeAsync(3000);
  expect(checks).toEqual([500, 1500, 3500, 4000, 5000, 7000]);
  isUp = true;
  retryNow();
  await vi.advanceTimersByTimeAsync(0);
  expect(connection.get().isUnreachable).toBe(false);
});
