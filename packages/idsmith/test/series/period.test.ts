import { InvalidOptionError } from 'idsmith';
import { expect, it } from 'vitest';
import { momentOf, StoreClock, stopwatch } from '../../src/series/block-number.ts';
import { calendarOf, earliestOf, type Period, periodText } from '../../src/series/format.ts';

const at = (text: string) => Date.parse(text);

it.each<[string, string, Period, string]>([
  ['2026-12-31T22:59:59.999Z', 'Europe/Berlin', 'year', '2026'],
  ['2026-12-31T23:00:00.000Z', 'Europe/Berlin', 'year', '2027'],
  ['2026-12-31T23:00:00.000Z', 'UTC', 'year', '2026'],
  ['2027-01-01T04:59:59.999Z', 'America/New_York', 'quarter', '2026-Q4'],
  ['2026-06-30T14:00:00.000Z', 'Asia/Tokyo', 'month', '2026-06'],
  ['2026-06-30T15:00:00.000Z', 'Asia/Tokyo', 'month', '2026-07'],
  // Samoa has skipped the 30th of December 2011.
  ['2011-12-30T09:59:59.999Z', 'Pacific/Apia', 'day', '2011-12-29'],
  ['2011-12-30T10:00:00.000Z', 'Pacific/Apia', 'day', '2011-12-31'],
])('%s in %s is in the %s %s', (instant, timeZone, period, text) => {
  expect(periodText(period, calendarOf(timeZone)(at(instant)))).toBe(text);
});

it.each(['Europe/Berlyn', '', 'local', 7])('there is no time zone %j', (timeZone) => {
  expect(() => calendarOf(timeZone as string)).toThrow(InvalidOptionError);
});

it('a moment lasts to the millisecond before the turn, in the days of summer time, too', () => {
  const lasts = (instant: string, unit: Period) =>
    momentOf(calendarOf('Europe/Berlin'), unit, at(instant)).lasts;
  expect(lasts('2026-12-31T22:59:59.500Z', 'year')).toBe(500);
  expect(lasts('2026-12-31T22:59:59.999Z', 'year')).toBe(1);
  expect(lasts('2026-12-31T23:00:00.000Z', 'year')).toBe(1000);
  expect(lasts('2026-10-25T22:59:59.800Z', 'day')).toBe(200);
  expect(lasts('2026-12-31T22:59:59.500Z', 'none')).toBe(1000);
});

it('a reading ends before the turn, however long the answer took, and is asked for once by all callers', async () => {
  let [steady, wall, asked] = [0, 0, 0];
  const time = { steady: () => steady, clock: { now: () => wall } };
  const calendar = calendarOf('UTC');
  const ask = async () => {
    asked++;
    steady += 300;
    return at('2026-12-31T23:59:59.500Z');
  };
  const clock = new StoreClock(ask, (now) => momentOf(calendar, 'year', now), time);
  const call = stopwatch(time);
  const [reading, other] = await Promise.all([clock.read(undefined), clock.read(undefined)]);
  expect(other).toBe(reading);
  expect(asked).toBe(1);
  expect(reading.isAfter(call)).toBe(true);
  expect(reading.isAfter(stopwatch(time))).toBe(false);
  steady = 499;
  expect(reading.holds).toBe(true);
  // Half a second after the question, and not after the answer.
  steady = 500;
  expect(reading.holds).toBe(false);
  // A machine that slept, or whose clock was set forward, asks again.
  steady = 0;
  wall = 5000;
  expect(reading.holds).toBe(false);
  await clock.read(undefined);
  expect(asked).toBe(2);
});

it.each([
  ['', '1970-01-01T00:00:00Z'],
  ['0000', '1970-01-01T00:00:00Z'],
  ['2026', '2025-12-31T10:00:00Z'],
  ['2026-Q1', '2025-12-31T10:00:00Z'],
  ['2026-Q4', '2026-09-30T10:00:00Z'],
  ['2026-07', '2026-06-30T10:00:00Z'],
  ['2026-07-14', '2026-07-13T10:00:00Z'],
])('the period %j has begun nowhere before %s', (text, time) => {
  expect(new Date(earliestOf(text)).toISOString()).toBe(new Date(time).toISOString());
});

it('no period begins in any time zone before its earliest time', () => {
  for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Auckland', 'UTC', 'Pacific/Pago_Pago'])
    for (const period of ['year', 'quarter', 'month', 'day'] as const)
      for (const instant of ['2026-01-01T00:00:00Z', '2026-06-30T10:00:00Z', '2026-12-31T09:59:59Z']) {
        const time = Date.parse(instant);
        expect(earliestOf(periodText(period, calendarOf(timeZone)(time)))).toBeLessThanOrEqual(time);
      }
});
