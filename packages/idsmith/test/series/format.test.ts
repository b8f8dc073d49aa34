import fc from 'fast-check';
import { InvalidIdError, InvalidOptionError, SequenceExhaustedError, TimeExhaustedError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { type Period, periodText, SeriesFormat } from '../../src/series/format.ts';

const date = { year: 2026, month: 7, day: 4 };
const print = (format: string, period: Period, number: bigint, tenant?: string) =>
  new SeriesFormat(format, period).print({ number, date, tenant });

describe('a format', () => {
  it.each<[string, Period, bigint, string]>([
    ['INV-{yyyy}-{n:6}', 'year', 123n, 'INV-2026-000123'],
    ['{yy}{mm}{dd}{n:3}', 'day', 7n, '260704007'],
    ['Q{q}/{yyyy}/{n}', 'quarter', 12345n, 'Q3/2026/12345'],
    ['{n:2+}', 'none', 12345n, '12345'],
    ['{n:2+}', 'none', 5n, '05'],
    ['INV-{yyyy}{mm}-{n:4}', 'year', 1n, 'INV-202607-0001'],
    ['Nº (100%) {n}', 'none', 1n, 'Nº (100%) 1'],
  ])('%s with period %s prints %s as %s, and reads it', (format, period, number, text) => {
    expect(print(format, period, number)).toBe(text);
    expect(new SeriesFormat(format, period).parse(text)).toMatchObject({
      number,
      period: periodText(period, date),
    });
  });

  it('reads the printed date where it is finer than the period, and the tenant', () => {
    const format = new SeriesFormat('{tenant}-{yyyy}{mm}-{n:4}', 'year');
    expect(format.parse('a-1-202607-0005')).toEqual({
      number: 5n,
      period: '2026',
      date: '2026-07',
      tenant: 'a-1',
    });
  });

  it('refuses a number that does not fit, with the way out', () => {
    expect(() => print('{n:2}', 'none', 100n)).toThrow(SequenceExhaustedError);
    expect(() => print('{n:2}', 'none', 100n)).toThrow('add a + to its width');
  });

  it('refuses a year that two digits cannot tell from another one', () => {
    const format = new SeriesFormat('{yy}-{n}', 'year');
    expect(() => format.print({ number: 1n, date: { ...date, year: 2100 }, tenant: undefined })).toThrow(
      TimeExhaustedError,
    );
    expect(format.parse('99-1').period).toBe('2099');
  });

  it.each<[string, Period, string]>([
    ['INV-{n:6}', 'year', 'period "year" needs {yyyy}'],
    ['INV-{yyyy}-{n:6}', 'month', 'period "month" needs {yyyy} and {mm}'],
    ['INV-{mm}-{n:6}', 'month', 'needs {yyyy} and {mm}'],
    ['{yyyy}{mm}{n:6}', 'day', 'needs {yyyy}, {mm} and {dd}'],
    ['{yyyy}{n}', 'quarter', 'needs {yyyy} and {q}'],
    ['{mm}-{n}', 'none', 'prints a part of a date alone'],
    ['{yyyy}-{dd}-{n}', 'year', 'prints a part of a date alone'],
    ['INV-{yyyy}', 'year', 'has no number'],
    ['{n}{n}', 'none', 'has {n} twice'],
    ['{yy}{yyyy}{n}', 'year', 'use one of them'],
    ['{n:0}', 'none', 'a width is from 1 to 19'],
    ['{n:20}', 'none', 'a width is from 1 to 19'],
    ['{yyy}-{n}', 'year', 'did you mean'],
    ['{n', 'none', 'without its other half'],
    ['{n}\n', 'none', 'control character'],
    ['{tenant}{n}', 'none', 'is ambiguous'],
    ['{tenant}-{yyyy}{n:6+}', 'year', 'is ambiguous'],
    ['{tenant}-7{n}', 'none', 'is ambiguous'],
    ['{n}{tenant}', 'none', 'is ambiguous'],
  ])('%j with period %s is refused: %s', (format, period, reason) => {
    expect(() => new SeriesFormat(format, period)).toThrow(InvalidOptionError);
    expect(() => new SeriesFormat(format, period)).toThrow(reason);
    expect(() => new SeriesFormat(format, period)).not.toThrow('; Tokens');
  });

  it.each([
    '',
    'INV-2026-00012',
    'INV-2026-0000123',
    'inv-2026-000123',
    'INV-2026-000123 ',
    'INV-2026-00012a',
  ])('does not read %j', (text) => {
    expect(() => new SeriesFormat('INV-{yyyy}-{n:6}', 'year').parse(text)).toThrow(InvalidIdError);
  });

  it.each([
    ['{yyyy}-{mm}-{dd}-{n}', 'day', '2026-02-29-1'],
    ['{yyyy}-{mm}-{n}', 'month', '2026-13-1'],
    ['{yyyy}Q{q}-{mm}-{n}', 'month', '2026Q1-07-1'],
    ['{yyyy}Q{q}-{n}', 'quarter', '2026Q5-1'],
    ['{n:2+}', 'none', '0123'],
    ['{n}', 'none', '9223372036854775808'],
    ['{tenant}/{n}', 'none', ' /1'],
  ] as const)('%s does not read %s as a %s', (format, period, text) => {
    expect(() => new SeriesFormat(format, period).parse(text)).toThrow(InvalidIdError);
  });

  const tenant = fc.stringMatching(/^[a-z0-9-]{1,6}$/);
  const printed = fc.record({
    number: fc.bigInt(0n, 10n ** 8n),
    year: fc.integer({ min: 2000, max: 2030 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 28 }),
    tenant,
  });

  it.each<[string, Period]>([
    ['{tenant}-{n}', 'none'],
    ['{n}-{tenant}', 'none'],
    ['{tenant}{yyyy}-{n:3+}', 'year'],
    ['{yy}{n:9}{tenant}{mm}', 'month'],
    ['{n:2+}{yyyy}{mm}{dd}', 'day'],
    ['{tenant}{n:9}', 'none'],
  ])(
    '%s: every text has the reading that it was printed from, so that no two are the same',
    (text, period) => {
      const format = new SeriesFormat(text, period);
      fc.assert(
        fc.property(printed, ({ number, tenant, ...date }) => {
          const read = format.parse(format.print({ number, date, tenant }));
          expect(read.number).toBe(number);
          expect(read.period).toBe(periodText(period, date));
          if (format.hasTenant) expect(read.tenant).toBe(tenant);
        }),
      );
    },
  );
});
