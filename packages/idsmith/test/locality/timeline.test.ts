import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ledger } from '../../src/locality/ledger.ts';
import { Timeline } from '../../src/locality/timeline.ts';

const newLedger = () => new Ledger(new SharedArrayBuffer(16));
const seatIn = (ledger: Ledger, joint = false) => ({ ledger, stream: ledger.enrol(), joint });

describe('a timeline', () => {
  it("gives the clock's reading, also when the clock steps back", () => {
    const timeline = new Timeline(100);
    expect([50, 51, 40, 52].map((reading) => timeline.stamp(reading, 1))).toEqual([50, 51, 40, 52]);
  });

  it('goes above all it has stamped when the counter is set anew', () => {
    const timeline = new Timeline(100);
    timeline.stamp(50, 1);
    timeline.stamp(40, 1);
    timeline.restart();
    expect(timeline.stamp(40, 1)).toBe(51);
    expect(timeline.stamp(50, 1)).toBe(51);
    expect(timeline.stamp(52, 1)).toBe(52);
  });

  it('stands above a millisecond when the counter has come round in it', () => {
    const timeline = new Timeline(4);
    const times = Array.from({ length: 20 }, () => timeline.stamp(7, 1));
    for (let i = 8; i < times.length; i++) expect(times[i]).toBeGreaterThan(times[i - 8] as number);
  });

  it('never gives one (time, counter) pair twice, whatever the clock does', () => {
    const step = fc.record({
      reading: fc.nat(6),
      count: fc.integer({ min: 1, max: 3 }),
      restart: fc.nat(19),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const half = 8;
        const timeline = new Timeline(half);
        let counter = 0;
        const seen = new Set<string>();
        for (const { reading, count, restart } of steps) {
          if (restart === 0) {
            timeline.restart();
            counter = 0;
          }
          const ms = timeline.stamp(reading, count);
          for (let i = 0; i < count; i++) {
            const pair = `${ms} ${counter++ % (2 * half)}`;
            expect(seen.has(pair)).toBe(false);
            seen.add(pair);
          }
        }
      }),
    );
  });
});

describe('timelines in one ledger', () => {
  it('never stamp the same millisecond, whatever their clocks say', () => {
    const step = fc.record({ who: fc.nat(2), reading: fc.nat(30), restart: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ledger = newLedger();
        const timelines = [0, 1, 2].map(() => new Timeline(1000, seatIn(ledger)));
        const runs = [0, 0, 0];
        const owners = new Map<number, string>();
        for (const { who, reading, restart } of steps) {
          const timeline = timelines[who] as Timeline;
          if (restart === 0) {
            timeline.restart();
            runs[who] = (runs[who] as number) + 1;
          }
          const ms = timeline.stamp(reading + 1, 1);
          const owner = `${who} in its run ${runs[who]}`;
          expect(owners.get(ms) ?? owner).toBe(owner);
          owners.set(ms, owner);
        }
      }),
    );
  });

  it('stay within a millisecond for each of them of the clock', () => {
    const ledger = newLedger();
    const timelines = Array.from({ length: 8 }, () => new Timeline(1e6, seatIn(ledger)));
    for (let now = 1000; now < 3000; now++) {
      for (const timeline of timelines) expect(timeline.stamp(now, 1) - now).toBeLessThan(8);
    }
  });

  it('share a millisecond when they walk one stream together', () => {
    const ledger = newLedger();
    const seat = seatIn(ledger, true);
    const [a, b] = [new Timeline(1000, seat), new Timeline(1000, seat)];
    expect([a.stamp(5, 1), b.stamp(5, 1), a.stamp(5, 1)]).toEqual([5, 5, 5]);
    expect(b.stamp(9, 1)).toBe(9);
    // It does not know which of the earlier times the other has used.
    expect(a.stamp(6, 1)).toBe(9);
  });

  it('that cannot be numbered any more are kept apart all the same', () => {
    const ledger = newLedger();
    for (let i = 0; i < 2 ** 15 - 1; i++) ledger.enrol();
    const seats = [seatIn(ledger), seatIn(ledger)];
    expect(seats.map(({ stream }) => stream)).toEqual([0, 0]);
    const [a, b] = seats.map((seat) => new Timeline(1000, seat)) as [Timeline, Timeline];
    expect(new Set([a.stamp(5, 1), b.stamp(5, 1), a.stamp(9, 1), b.stamp(9, 1)]).size).toBe(4);
  });
});
