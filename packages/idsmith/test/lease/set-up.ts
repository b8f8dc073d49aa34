import {
  acquireLease,
  type Lease,
  type LeaseRecord,
  type LeaseStore,
  memoryStore,
  StoreError,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { expect } from 'vitest';

/** An error with that code. */
export const named = (code: string) => expect.objectContaining({ code });
export const TTL = 30_000;

/**
 * The time after which a lease of that ttl was renewed once, and not twice, ms: the first renewal comes after 6.2 to 12 seconds,
 * and the second one 8 to 12 seconds later.
 */
export const ONE_RENEWAL = 14_000;

/** A store whose answers can be made to fail, with the time that it and its holders live in. */
export function setUp(overrides: Partial<LeaseStore> = {}) {
  const time = new FakeTime();
  const inner = memoryStore();
  const state = { down: false };
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (state.down) throw new StoreError('down');
      return call(...args);
    };
  const store: LeaseStore = {
    now: guarded(async () => time.now),
    listLeases: guarded((namespace: string) => inner.listLeases(namespace)),
    swapLease: guarded((namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord) =>
      inner.swapLease(namespace, expected, next),
    ),
    ...overrides,
  };
  const lease = (options: Partial<Parameters<typeof acquireLease>[1]> = {}) =>
    acquireLease(store, { namespace: 'test', size: 3, timer: time, clock: time.clock(), ...options });
  return { time, store, inner, state, lease };
}

/** Lets time pass until a promise that needs it is done. */
export async function meanwhile<T>(time: FakeTime, promise: Promise<T>, limit = 300_000): Promise<T> {
  let done = false;
  const marked = promise.finally(() => {
    done = true;
  });
  marked.catch(() => undefined);
  for (let passed = 0; !done && passed < limit; passed += 100) await time.advance(100);
  return marked;
}

export function eventsOf(lease: Lease): string[] {
  const seen: string[] = [];
  for (const event of ['renewed', 'renewal-failed', 'fenced', 'reacquired', 'released'] as const) {
    lease.on(event, () => seen.push(event));
  }
  return seen;
}
