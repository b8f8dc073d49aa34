import fc from 'fast-check';
import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it, vi } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import { privateLedger } from '../../src/locality/ledger.ts';
import { SharedCounter, sharedLedger } from '../../src/locality/shared-counter.ts';
import { Timeline } from '../../src/locality/timeline.ts';

const TODAY = Date.UTC(2026, 0, 1);

/** Views of one counter in several threads, with blocks of 2^`bits` numbers, and a stranger in the same ledger. */
function viewsOf(count: number, bits: number, start = 0) {
  const ledger = sharedLedger(privateLedger());
  const timeline = new Timeline(ledger, 1e9);
  const memory = SharedCounter.memory(start, timeline.stamp(TODAY, 1));
  const views = Array.from({ length: count }, () => new SharedCounter(memory, ledger, timeline.stream, bits));
  return { views, ledger, memory, stranger: new Timeline(ledger, 1e9) };
}

describe('a shared counter', () => {
  it('gives each number once, in order, with the present millisecond', () => {
    const { views } = viewsOf(2, 20, 100);
    const [a, b] = views as [SharedCounter, SharedCounter];
    expect([a.take(TODAY, 1, 7), b.take(TODAY, 3, 7), a.take(TODAY, 1, 7)]).toEqual([100, 107, 128]);
    expect([a.ms, b.ms]).toEqual([TODAY, TODAY]);
    expect(b.counter(7)).toBe(135);
  });

  it('goes on with the clock, and not back with it', () => {
    const { views } = viewsOf(2, 20);
    const [a, b] = views as [SharedCounter, SharedCounter];
    const times = [TODAY, TODAY + 5, TODAY, TODAY + 5, TODAY + 6].map((reading, i) => {
      const view = i % 2 ? b : a;
      view.take(reading, 1, 1);
      return view.ms - TODAY;
    });
    expect(times).toEqual([0, 5, 5, 5, 6]);
  });

  it('claims a millisecond once, though two threads want it at the same time', () => {
    const { views, ledger } = viewsOf(2, 20);
    const [a, b] = views as [SharedCounter, SharedCounter];
    const real = Atomics.compareExchange as (...args: unknown[]) => never;
    const exchange = vi.spyOn(Atomics, 'compareExchange').mockImplementationOnce((...args) => {
      exchange.mockRestore();
      const outcome = real(...args);
      // The other comes between the claim and its use, and uses it.
      b.take(TODAY + 1, 1, 1);
      return outcome;
    });
    a.take(TODAY + 1, 1, 1);
    expect([a.ms, b.ms]).toEqual([TODAY + 1, TODAY + 1]);
    expect(new Timeline(ledger, 10).stamp(TODAY, 1)).toBe(TODAY + 2);
  });

  it('gives up the numbers of a thread that slept while the others went on by blocks', () => {
    const { views } = viewsOf(2, 2);
    const [sleeper, other] = views as [SharedCounter, SharedCounter];
    const real = Atomics.add as (...args: unknown[]) => never;
    const add = vi.spyOn(Atomics, 'add').mockImplementationOnce((...args) => {
      add.mockRestore();
      const number = real(...args);
      for (let i = 0; i < 500; i++) other.take(TODAY, 1, 1);
      return number;
    });
    expect(sleeper.take(TODAY, 1, 1)).toBe(501);
  });

  it.each([2 ** 17, 2 ** 18 + 2])(
    'is not misled by a sleep of %d numbers, after which blocks are numbered anew',
    (asleep) => {
      const { views, memory } = viewsOf(2, 2);
      const real = Atomics.add as (...args: unknown[]) => never;
      const add = vi.spyOn(Atomics, 'add').mockImplementationOnce((...args) => {
        add.mockRestore();
        const number = real(...args);
        new BigUint64Array(memory)[0] = BigInt(asleep);
        return number;
      });
      expect((views[0] as SharedCounter).take(TODAY, 1, 1)).toBe(asleep);
    },
  );

  it('never gives one millisecond to numbers that could have the same text, nor one that a stranger has', () => {
    // As many numbers as a millisecond may have are 16 blocks of 4.
    const span = 16 * 4;
    const step = fc.record({ who: fc.nat(8), reading: fc.nat(3), count: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const { views, stranger } = viewsOf(8, 2);
        const texts = new Set<string>();
        const owners = new Map<number, boolean>();
        for (const { who, reading, count } of steps) {
          const view = views[who];
          const counter = view?.take(TODAY + reading, count, 1) ?? 0;
          const ms = view ? view.ms : stranger.stamp(TODAY + reading, count);
          expect(owners.get(ms) ?? !view).toBe(!view);
          owners.set(ms, !view);
          if (!view) continue;
          expect(ms).toBeGreaterThanOrEqual(TODAY + reading);
          for (let i = 0; i < count; i++) texts.add(`${ms} ${(counter + i) % span}`);
        }
        const taken = steps.reduce((sum, { who, count }) => sum + (who < 8 ? count : 0), 0);
        expect(texts.size).toBe(taken);
      }),
      { numRuns: atDepth(1000) },
    );
  });

  it('does not run ahead of the clock more than it must', () => {
    const { views } = viewsOf(8, 20);
    for (let now = TODAY; now < TODAY + 1000; now++) {
      for (const view of views) {
        view.take(now, 1, 1);
        expect(view.ms).toBe(now);
      }
    }
  });

  it('is refused at the end of time', () => {
    const { views } = viewsOf(1, 20);
    const [view] = views as [SharedCounter];
    expect(() => view.take(2 ** 48, 1, 1)).toThrow(expect.objectContaining({ code: 'TIME_EXHAUSTED' }));
    view.take(2 ** 48 - 1, 1, 1);
    expect(view.ms).toBe(2 ** 48 - 1);
  });
});

describe('a generator with Java reversal, attached to 40 times while the clock is behind', () => {
  it('never puts more than 2^24 ids into one millisecond, after which texts would repeat', () => {
    const clock = new FakeClock(TODAY);
    const node = { processId: 7, mac: new Uint8Array(6) };
    const generator = new LocalityGenerator({ node, clock, reversal: 'java', counter: 0 });
    generator.next();
    const handle = generator.share();
    clock.time -= 5000;
    const ids = new Map<number, number>();
    const bytes = new Uint8Array(16 * 2 ** 19);
    for (let i = 0; i < 40; i++) {
      LocalityGenerator.attach(handle, { clock }).fill(bytes);
      for (let at = 0; at < bytes.length; at += 16 * 512) {
        const ms = Number(LocalityUuid.fromBytes(bytes.slice(at, at + 16)).timestamp);
        ids.set(ms, (ids.get(ms) ?? 0) + 512);
      }
    }
    expect(Math.min(...ids.keys())).toBeGreaterThan(TODAY);
    expect(Math.max(...ids.values())).toBeLessThanOrEqual(2 ** 24);
    // Nor does it waste milliseconds.
    expect(ids.size).toBe(2);
  });
});
