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

/** Many acquisitions at the same moment: their leases, and how often each asked the store. */
export async function storm(
  storeOf: (process: number) => LeaseStore,
  processes: number,
  options: LeaseOptions,
): Promise<{ leases: Lease[]; average: number; most: number }> {
  const counters = Array.from({ length: processes }, (_, i) => counted(storeOf(i)));
  const leases = await Promise.all(
    counters.map(({ counting }) => acquireLease(counting, { ttl: 120_000, ...options })),
  );
  const counts = counters.map(({ count }) => count.operations);
  return {
    leases,
    average: counts.reduce((sum, each) => sum + each, 0) / processes,
    most: Math.max(...counts),
  };
}

/** Checks that a storm was within the bar, and that every process has a node id of its own. */
export function expectCalm({ leases, average, most }: Awaited<ReturnType<typeof storm>>): void {
  expect(new Set(leases.map(({ id }) => id)).size).toBe(leases.length);
  expect(average).toBeLessThanOrEqual(BAR.average);
  expect(most).toBeLessThanOrEqual(BAR.most);
}
