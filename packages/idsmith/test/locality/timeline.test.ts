import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import { privateLedger } from '../../src/locality/ledger.ts';
import { sharedLedger } from '../../src/locality/shared-counter.ts';
import { Timeline } from '../../src/locality/timeline.ts';

/** Times as they are: 41 bits, which with the stream's 15 pass what a number can hold. */
const TODAY = Date.UTC(2026, 0, 1);
const alone = (span: number) => new Timeline(privateLedger(), span);

describe('a timeline', () => {
  it("gives the clock's reading, also when the clock steps back", () => {
    const timeline = alone(100);
    expect([50, 51, 40, 52].map((reading) => timeline.stamp(reading, 1))).toEqual([50, 51, 40, 52]);
  });

  it('goes above all it has stamped when the counter is set anew', () => {
    const timeline = alone(100);
    timeline.stamp(50, 1);
    timeline.stamp(40, 1);
    timeline.restart();
    expect(timeline.stamp(40, 1)).toBe(51);
    expect(timeline.stamp(50, 1)).toBe(51);
    expect(timeline.stamp(52, 1)).toBe(52);
  });

  it('leaves a millisecond in which the counter has come round', () => {
    const timeline = alone(8);
    const times = Array.from({ length: 30 }, () => timeline.stamp(7, 1));
    for (let i = 8; i < times.length; i++) expect(times[i]).toBeGreaterThan(times[i - 8] as number);
  });

  it('stamps nothing more when it is closed, at any reading', () => {
    const timeline = alone(100);
    timeline.stamp(50, 1);
    timeline.close();
    for (const reading of [40, 50, 60])
      expect(() => timeline.stamp(reading, 1)).toThrow(expect.objectContaining({ code: 'CLOSED' }));
  });

  it('never gives one (time, counter) pair twice, whatever the clock does', () => {
    const step = fc.record({
      reading: fc.nat(6),
      count: fc.integer({ min: 1, max: 3 }),
      event: fc.constantFrom('restart', 'afresh', ...new Array<string>(18).fill('')),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const span = 16;
        const timeline = alone(span);
        let counter = 0;
        const seen = new Set<string>();
        for (const { reading, count, event } of steps) {
          if (event === 'restart') {
            timeline.restart();
            counter = 0;
          } else if (event === 'afresh') counter = 0;
          const ms = timeline.stamp(TODAY + reading, count, event === 'afresh');
          for (let i = 0; i < count; i++) {
            const pair = `${ms} ${counter++ % span}`;
            expect(seen.has(pair)).toBe(false);
            seen.add(pair);
          }
        }
      }),
      { numRuns: atDepth(1000) },
    );
  });
});

describe('timelines in one ledger', () => {
  it('claim again when another was quicker', () => {
    const ledger = privateLedger();
    const [a, b] = [new Timeline(ledger, 100), new Timeline(ledger, 100)];
    const real = Atomics.compareExchange;
    const exchange = vi.spyOn(Atomics, 'compareExchange').mockImplementationOnce((...args) => {
      exchange.mockRestore();
      b.stamp(TODAY, 1);
      return (real as (...all: unknown[]) => never)(...args);
    });
    expect(a.stamp(TODAY, 1)).toBe(TODAY + 1);
  });

  it('are numbered no more when there are too many', () => {
    const ledger = privateLedger();
    const streams = new Int32Array(ledger, 8, 1);
    streams[0] = 2 ** 31 - 1;
    expect(new Timeline(ledger, 100).stream).toBe(0);
    expect(streams[0]).toBe(2 ** 31 - 1);
  });

  it('never stamp the same millisecond, whatever their clocks say', () => {
    const step = fc.record({ who: fc.nat(2), reading: fc.nat(30), restart: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ledger = privateLedger();
        const timelines = [0, 1, 2].map(() => new Timeline(ledger, 1000));
        const runs = [0, 0, 0];
        const owners = new Map<number, string>();
        for (const { who, reading, restart } of steps) {
          const timeline = timelines[who] as Timeline;
          if (restart === 0) {
            timeline.restart();
            runs[who] = (runs[who] as number) + 1;
          }
          const ms = timeline.stamp(TODAY + reading, 1);
          const owner = `${who} in its run ${runs[who]}`;
          expect(owners.get(ms) ?? owner).toBe(owner);
          owners.set(ms, owner);
        }
      }),
      { numRuns: atDepth(1000) },
    );
  });

  it('stay within a millisecond for each of them of the clock', () => {
    const ledger = privateLedger();
    const timelines = Array.from({ length: 8 }, () => new Timeline(ledger, 1e6));
    for (let now = TODAY; now < TODAY + 2000; now++) {
      for (const timeline of timelines) expect(timeline.stamp(now, 1) - now).toBeLessThan(8);
    }
  });

  it('that cannot be numbered any more are kept apart all the same', () => {
    const ledger = privateLedger();
    for (let i = 0; i < 2 ** 15 - 1; i++) new Timeline(ledger, 1);
    const [a, b] = [new Timeline(ledger, 1000), new Timeline(ledger, 1000)];
    expect([a.stream, b.stream]).toEqual([0, 0]);
    expect(new Set([a.stamp(5, 1), b.stamp(5, 1), a.stamp(9, 1), b.stamp(9, 1)]).size).toBe(4);
  });

  it('that cannot be numbered any more are kept apart in the first millisecond of all, too', () => {
    const ledger = privateLedger();
    new Int32Array(ledger, 8, 1)[0] = 2 ** 15;
    const [a, b] = [new Timeline(ledger, 1000), new Timeline(ledger, 1000)];
    expect([a.stamp(0, 1), b.stamp(0, 1), a.stamp(9, 1), b.stamp(9, 1)]).toEqual([0, 1, 9, 10]);
  });
});

describe('a ledger', () => {
  it('is copied with all it holds when it moves to shared memory, and stays where it is when it is there', () => {
    const ledger = privateLedger();
    const timeline = new Timeline(ledger, 1000);
    timeline.stamp(50, 1);
    const shared = sharedLedger(ledger);
    expect(new Timeline(shared, 1000).stamp(40, 1)).toBe(51);
    expect(sharedLedger(shared)).toBe(shared);
  });

  it('can begin with everything taken up to some millisecond', () => {
    expect(new Timeline(privateLedger(0), 1000).stamp(0, 1)).toBe(1);
    expect(new Timeline(privateLedger(), 1000).stamp(0, 1)).toBe(0);
  });

  it('holds the last millisecond of all', () => {
    const ledger = privateLedger();
    const [a, b] = [new Timeline(ledger, 1000), new Timeline(ledger, 1000)];
    expect([a.stamp(2 ** 48 - 1, 1), a.stamp(2 ** 48 - 1, 1)]).toEqual([2 ** 48 - 1, 2 ** 48 - 1]);
    expect(() => b.stamp(5, 1)).toThrow(expect.objectContaining({ code: 'TIME_EXHAUSTED' }));
  });
});
