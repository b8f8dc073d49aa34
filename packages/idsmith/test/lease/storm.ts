import { acquireLease, type Lease, type LeaseOptions, type LeaseStore } from 'idsmith';
import { expect } from 'vitest';

/** The bar of a storm: operations of the store for one lease, on average and at most. */
const BAR = { average: 6, most: 24 };

/** The store, with a count of the operations that one acquisition asks it for. */
function counted(store: LeaseStore): { count: { operations: number }; counting: LeaseStore } {
  const count = { operations: 0 };
  const counting = new Proxy(store, {
    get(target, name) {
      const member = target[name as keyof LeaseStore];
      if (typeof member !== 'function') return member;
      return (...args: never[]) => {
        count.operations++;
        return (member as (...args: never[]) => unknown).apply(target, args);
      };
    },
  });
  return { count, counting };
}

/** What a storm came to: the leases, and the operations that one of them took. */
export interface Storm {
  readonly leases: readonly Lease[];
  readonly average: number;
  readonly most: number;
}

/** Many acquisitions at the same moment: their leases, and how often each asked the store. */
export async function storm(
  storeOf: (process: number) => LeaseStore,
  processes: number,
  options: LeaseOptions,
): Promise<Storm> {
  const counters = Array.from({ length: processes }, (_, i) => counted(storeOf(i)));
  const counts: number[] = [];
  const leases = await Promise.all(
    counters.map(async ({ count, counting }) => {
      const lease = await acquireLease(counting, { ttl: 120_000, ...options });
      // Later ones are renewals.
      counts.push(count.operations);
      return lease;
    }),
  );
  return {
    leases,
    average: counts.reduce((sum, each) => sum + each, 0) / processes,
    most: Math.max(...counts),
  };
}

/** Checks that storms were within the bar, on average over all of them, and that every process had a node id of its own. */
export function expectCalm(...storms: readonly Storm[]): void {
  for (const { leases, most } of storms) {
    expect(new Set(leases.map(({ id }) => id)).size).toBe(leases.length);
    expect(most).toBeLessThanOrEqual(BAR.most);
  }
  const operations = storms.reduce((sum, { leases, average }) => sum + leases.length * average, 0);
  const count = storms.reduce((sum, { leases }) => sum + leases.length, 0);
  expect(operations / count).toBeLessThanOrEqual(BAR.average);
}
