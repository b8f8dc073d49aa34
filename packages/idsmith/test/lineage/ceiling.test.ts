import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Ceiling, firstCeiling, isCovered, isDue, nextCeiling } from '../../src/lineage/ceiling.ts';

const MINUTE = 60_000;
const ROW = { step: 1, blockSize: 20, min: -(2n ** 63n), max: 2n ** 63n - 1n };
const DOWN = { ...ROW, step: -1 };
const MOST = 10_000_000;

describe('the first ceiling', () => {
  it('is 1,000 blocks ahead, in the direction of the sequence', () => {
    expect(firstCeiling(ROW, 100n, 'a', 7, false, MOST)).toEqual({
      lineage: 'a',
      ceiling: 20_100n,
      matured: 100n,
      base: 100n,
      writtenAt: 7,
    });
    expect(firstCeiling({ ...ROW, step: -3 }, 100n, 'a', 7, false, MOST).ceiling).toBe(100n - 3n * 20_000n);
    expect(firstCeiling({ ...ROW, blockSize: 0 }, 100n, 'a', 7, false, MOST).ceiling).toBe(1100n);
  });

  it('is old enough at once if it is written before the row', () => {
    expect(firstCeiling(ROW, 100n, 'a', 7, true, MOST).matured).toBe(20_100n);
  });

  it('is no further ahead than the store allows', () => {
    expect(firstCeiling(ROW, 100n, 'a', 7, false, 500).ceiling).toBe(600n);
    expect(firstCeiling({ ...ROW, step: 2 }, 100n, 'a', 7, false, 500).ceiling).toBe(1100n);
  });

  it('takes no more than a twentieth of the ids of the range for its first blocks', () => {
    const narrow = { ...ROW, min: 1n, max: 100_001n };
    expect(firstCeiling(narrow, 1n, 'a', 7, false, MOST).ceiling).toBe(5001n);
    expect(firstCeiling({ ...narrow, step: 10 }, 1n, 'a', 7, false, MOST).ceiling).toBe(1n + 10n * 500n);
    const down = firstCeiling({ ...narrow, step: -10 }, 100_001n, 'a', 7, false, MOST);
    expect(down.ceiling).toBe(100_001n - 10n * 500n);
    expect(firstCeiling({ ...narrow, max: 400_001n }, 1n, 'a', 7, false, MOST).ceiling).toBe(20_001n);
    expect(firstCeiling({ ...narrow, max: 999_999n }, 1n, 'a', 7, false, MOST).ceiling).toBe(20_001n);
    expect(firstCeiling({ ...narrow, max: 100_000_001n }, 1n, 'a', 7, false, MOST).ceiling).toBe(20_001n);
  });

  it('counts the range from the start of the sequence, whatever is allowed before it', () => {
    const up = { ...ROW, start: 1n, max: 100_001n };
    expect(firstCeiling(up, 500n, 'a', 7, false, MOST).ceiling).toBe(5500n);
    const down = { ...DOWN, start: 1n, min: -99_999n };
    expect(firstCeiling(down, -500n, 'a', 7, false, MOST).ceiling).toBe(-5500n);
    expect(firstCeiling({ ...down, step: -10 }, -500n, 'a', 7, false, MOST).ceiling).toBe(-5500n);
  });

  it('counts what is left of the range if the start is not known', () => {
    const unknown = { ...ROW, start: undefined, max: 100_001n };
    expect(firstCeiling(unknown, 1n, 'a', 7, false, MOST).ceiling).toBe(5001n);
    expect(firstCeiling(unknown, 60_001n, 'a', 7, false, MOST).ceiling).toBe(62_001n);
  });

  it('is two blocks ahead in the smallest range, so that what comes slowly is covered', () => {
    const small = { ...ROW, start: 1n, max: 700n };
    expect(firstCeiling(small, 21n, 'a', 7, false, MOST).ceiling).toBe(61n);
    expect(firstCeiling({ ...small, blockSize: 1 }, 21n, 'a', 7, false, MOST).ceiling).toBe(55n);
    expect(firstCeiling({ ...small, blockSize: 1, max: 50n }, 21n, 'a', 7, false, MOST).ceiling).toBe(23n);
    expect(firstCeiling({ ...small, start: 10_500n }, 10_520n, 'a', 7, false, MOST).ceiling).toBe(10_560n);
    expect(firstCeiling({ ...small, blockSize: 0 }, 21n, 'a', 7, false, 1).ceiling).toBe(22n);
  });
});

/** A ceiling at 1,000 of a sequence that was at 0, written at time 0. */
const PAST: Ceiling = { lineage: 'a', ceiling: 1000n, matured: 300n, base: 0n, writtenAt: 0 };

describe('the next ceiling', () => {
  it('is as far ahead as the sequence gets in four minutes at its rate', () => {
    // 50,000 ids in 30 s: 400,000 in 240 s.
    expect(nextCeiling(PAST, ROW, 50_000n, 30_000, MOST).ceiling).toBe(450_000n);
    const base = { ...PAST, base: 10_000n, writtenAt: 10_000 };
    expect(nextCeiling(base, ROW, 60_000n, 40_000, MOST).ceiling).toBe(460_000n);
    expect(nextCeiling(PAST, { ...ROW, step: 5 }, 250_000n, 30_000, MOST).ceiling).toBe(2_250_000n);
    const down = { ...PAST, ceiling: -1000n };
    expect(nextCeiling(down, DOWN, -50_000n, 30_000, MOST).ceiling).toBe(-450_000n);
    // 25,001 ids in 240.001 s is a little less: whole ids, rounded up.
    expect(nextCeiling(PAST, ROW, 25_001n, 240_001, MOST).ceiling).toBe(25_001n + 25_001n);
  });

  it('takes no more than a thousandth of the ids of a wide range', () => {
    const wide = { ...ROW, start: 1n, max: 1_000_000_001n };
    expect(nextCeiling(PAST, wide, 900_000n, 30_000, MOST).ceiling).toBe(1_900_000n);
  });

  it('counts a millisecond at least, and a clock that went back as one', () => {
    expect(nextCeiling(PAST, ROW, 1n, 0, MOST).ceiling).toBe(1n + 240_000n);
    expect(nextCeiling(PAST, ROW, 1n, 1, MOST).ceiling).toBe(1n + 240_000n);
    expect(nextCeiling(PAST, ROW, 1n, -50, MOST).ceiling).toBe(1n + 240_000n);
    expect(nextCeiling(PAST, ROW, 1n, 2, MOST).ceiling).toBe(1n + 120_000n);
  });

  it('is 1,000 blocks ahead at least, never before the one that it replaces, and no further than the store allows', () => {
    expect(nextCeiling(PAST, ROW, 10n, MINUTE, MOST).ceiling).toBe(20_010n);
    expect(nextCeiling({ ...PAST, ceiling: 90_000n }, ROW, 10n, MINUTE, MOST).ceiling).toBe(90_000n);
    expect(nextCeiling({ ...PAST, ceiling: -90_000n }, DOWN, -10n, MINUTE, MOST).ceiling).toBe(-90_000n);
    expect(nextCeiling(PAST, ROW, 50_000n, 30_000, 2000).ceiling).toBe(52_000n);
  });

  it('knows the last ceiling that was old enough', () => {
    expect(nextCeiling(PAST, ROW, 10n, MINUTE, MOST).matured).toBe(1000n);
    expect(nextCeiling(PAST, ROW, 10n, MINUTE - 1, MOST).matured).toBe(300n);
    expect(nextCeiling({ ...PAST, matured: 2000n }, ROW, 10n, MINUTE, MOST).matured).toBe(2000n);
    expect(nextCeiling(PAST, ROW, 10n, MINUTE, MOST)).toMatchObject({
      lineage: 'a',
      base: 10n,
      writtenAt: MINUTE,
    });
  });
});

describe('a ceiling', () => {
  it('covers numbers before it once it is a minute old, and those before the last one that was', () => {
    expect(isCovered(PAST, 300n, 1, 0)).toBe(true);
    expect(isCovered(PAST, 301n, 1, 0)).toBe(false);
    expect(isCovered(PAST, 1000n, 1, MINUTE)).toBe(true);
    expect(isCovered(PAST, 1000n, 1, MINUTE - 1)).toBe(false);
    expect(isCovered(PAST, 1001n, 1, MINUTE)).toBe(false);
    expect(isCovered({ ...PAST, ceiling: -1000n, matured: -300n }, -300n, -1, 0)).toBe(true);
    expect(isCovered({ ...PAST, ceiling: -1000n, matured: -300n }, -301n, -1, 0)).toBe(false);
  });

  it('is replaced when half of the way to it is used up, or all of the way while it is young', () => {
    const past = { ...PAST, base: 200n };
    expect(isDue(past, 599n, 1, MINUTE)).toBe(false);
    expect(isDue(past, 600n, 1, MINUTE)).toBe(true);
    expect(isDue(past, 999n, 1, MINUTE - 1)).toBe(false);
    expect(isDue(past, 1000n, 1, MINUTE - 1)).toBe(true);
    const down = { ...PAST, base: -200n, ceiling: -1000n };
    expect([isDue(down, -599n, -1, MINUTE), isDue(down, -600n, -1, MINUTE)]).toEqual([false, true]);
  });
});

describe('a sequence that writes its ceilings when they are due', () => {
  it('has, after a loss of up to a minute, a ceiling beyond everything that was covered when it was given', () => {
    const take = fc.record({ ids: fc.nat(5000), ms: fc.nat(MINUTE) });
    fc.assert(
      fc.property(fc.array(take, { minLength: 1, maxLength: 60 }), fc.nat(MINUTE), (takes, loss) => {
        const row = { ...ROW, blockSize: 1 };
        let now = 0;
        let position = 0n;
        let past = firstCeiling(row, position, 'a', now, true, MOST);
        const written = [past];
        let covered = position;
        for (const { ids, ms } of takes) {
          now += ms;
          position += BigInt(ids);
          if (isCovered(past, position, 1, now)) covered = position;
          if (!isDue(past, position, 1, now)) continue;
          past = nextCeiling(past, row, position, now, MOST);
          written.push(past);
        }
        // The first was written before the row, so it is there if the row is.
        const left = written
          .filter(({ writtenAt }, i) => i === 0 || writtenAt <= now - loss)
          .at(-1) as Ceiling;
        expect(left.ceiling).toBeGreaterThanOrEqual(covered);
      }),
    );
  });
});
