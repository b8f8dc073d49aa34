import fc from 'fast-check';
import { InvalidIdError, InvalidOptionError, Uuid7Generator } from 'idsmith';
import { uuid7 } from 'idsmith/uuid7';
import { afterEach, describe, expect, it, vi } from 'vitest';

const MAX_MS = 2 ** 48 - 1;
const time = fc.integer({ min: 0, max: MAX_MS });

afterEach(() => vi.useRealTimers());

describe('uuid7()', () => {
  it('gives UUIDs of version 7 with the present time', () => {
    const before = Date.now();
    const id = uuid7();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    // Earlier calls of this thread may have run ahead of a clock that stood still.
    expect(uuid7.timeOf(id).getTime()).toBeGreaterThanOrEqual(before);
  });

  it('gives strictly increasing ids, over many milliseconds', () => {
    let last = uuid7();
    for (let i = 0; i < 300_000; i++) {
      const id = uuid7();
      if (id <= last) expect.fail(`${id} does not come after ${last}`);
      last = id;
    }
  });

  it('goes on increasing while the clock stands still or steps back', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    const ids = Array.from({ length: 200_000 }, () => uuid7());
    vi.setSystemTime(Date.now() - 3_600_000);
    ids.push(uuid7(), uuid7());
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refuses a clock that gives no time, and goes on afterwards', () => {
    const before = uuid7();
    const now = vi.spyOn(Date, 'now').mockReturnValue(Number.NaN);
    expect(() => uuid7()).toThrow('the clock must give Unix milliseconds from 0 to 281474976710655, not NaN');
    now.mockReturnValue(-1);
    expect(() => uuid7()).toThrow('not -1');
    now.mockRestore();
    expect(uuid7() > before).toBe(true);
  });

  it('makes ids that differ from those of a generator', () => {
    const generator = new Uuid7Generator();
    const ids = Array.from({ length: 10_000 }, () => [uuid7(), generator.next()]).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('uuid7.at(time)', () => {
  it('gives a valid id of that millisecond, between the bounds', () => {
    fc.assert(
      fc.property(time, (ms) => {
        const id = uuid7.at(ms);
        expect(uuid7.timeOf(id).getTime()).toBe(ms);
        expect(uuid7.min(ms) <= id && id <= uuid7.max(ms)).toBe(true);
      }),
    );
  });

  it('never gives the same id twice for one millisecond', () => {
    const ids = Array.from({ length: 100_000 }, () => uuid7.at(1_700_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('bounds', () => {
  it('are the lowest and the highest UUID of version 7 of a millisecond', () => {
    const day = new Date('2026-01-01T00:00:00.000Z');
    expect(uuid7.min(day)).toBe('019b76da-a800-7000-8000-000000000000');
    expect(uuid7.max(day)).toBe('019b76da-a800-7fff-bfff-ffffffffffff');
  });

  it('take dates and numbers alike, and leave no id between two milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8_640_000_000_000 }), (ms) => {
        expect(uuid7.min(new Date(ms))).toBe(uuid7.min(ms));
        expect(uuid7.max(ms - 1) < uuid7.min(ms)).toBe(true);
      }),
    );
  });

  it('take the millisecond that a fraction lies in', () => {
    expect(uuid7.min(1.9)).toBe(uuid7.min(1));
  });
});

describe('wrong input', () => {
  it.each([
    Number.NaN,
    -1,
    MAX_MS + 1,
    Number.POSITIVE_INFINITY,
    new Date(Number.NaN),
    '2026-01-01',
    5n,
    null,
    undefined,
    true,
    {},
  ])('refuses the time %s', (wrong) => {
    for (const call of [uuid7.at, uuid7.min, uuid7.max]) {
      expect(() => call(wrong as number)).toThrow(InvalidOptionError);
      expect(() => call(wrong as number)).toThrow(/time must be a Date or Unix milliseconds from 0 to/);
    }
  });

  it.each([
    Symbol('id'),
    ['019b76da-a800-7000-8000-000000000000'],
    '',
    'x',
    '019b76da-a800-4000-8000-000000000000',
    '019b76da-a800-7000-c000-000000000000',
    '019b76daa80070008000000000000000',
    ' 019b76da-a800-7000-8000-000000000000',
    7,
    null,
    undefined,
  ])('finds no time in %s', (wrong) => {
    expect(() => uuid7.timeOf(wrong as string)).toThrow(InvalidIdError);
  });

  it('reads the time of text in upper case', () => {
    expect(uuid7.timeOf('019B76DA-A800-7000-8000-00000000000F')).toEqual(new Date('2026-01-01'));
  });
});
