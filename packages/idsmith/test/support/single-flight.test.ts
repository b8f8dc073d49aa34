import { describe, expect, it } from 'vitest';
import { OneSuccess, SingleFlight } from '../../src/support/single-flight.ts';

/** Work whose runs are counted, and end when the test says so. */
function steps() {
  const runs: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const work = () => new Promise<number>((resolve, reject) => runs.push({ resolve, reject }));
  return { runs, work };
}

describe('a single flight', () => {
  it('shares one run among the calls at the same time, and runs again after it', async () => {
    const { runs, work } = steps();
    const flight = new SingleFlight<number>();
    expect(flight.isRunning).toBe(false);
    const both = Promise.all([flight.run(work), flight.run(work)]);
    expect([runs.length, flight.isRunning]).toEqual([1, true]);
    runs[0]?.resolve(1);
    expect(await both).toEqual([1, 1]);
    expect(flight.isRunning).toBe(false);
    const next = flight.run(work);
    runs[1]?.resolve(2);
    expect(await next).toBe(2);
  });

  it('shares a failure, and runs again after it', async () => {
    const { runs, work } = steps();
    const flight = new SingleFlight<number>();
    const both = Promise.allSettled([flight.run(work), flight.run(work)]);
    runs[0]?.reject(new Error('no answer'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    void flight.run(work);
    expect(runs).toHaveLength(2);
  });
});

describe('one success', () => {
  it('is kept for all later calls', async () => {
    const { runs, work } = steps();
    const once = new OneSuccess<number>();
    const both = Promise.all([once.run(work), once.run(work)]);
    runs[0]?.resolve(1);
    expect(await both).toEqual([1, 1]);
    expect(await once.run(work)).toBe(1);
    expect(runs).toHaveLength(1);
  });

  it('comes after failures, each of which the calls at the same time share', async () => {
    const { runs, work } = steps();
    const once = new OneSuccess<number>();
    const both = Promise.allSettled([once.run(work), once.run(work)]);
    runs[0]?.reject(new Error('no answer'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = once.run(work);
    runs[1]?.resolve(2);
    expect(await next).toBe(2);
  });
});
