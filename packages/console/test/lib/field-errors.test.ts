import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { errorsOf, WHOLE_FORM } from '../../src/lib/field-errors.ts';
import { duration, percent, perSecond, relative, short, span } from '../../src/lib/format.ts';
import { typedDigits, typedNumber } from '../../src/lib/typed-number.ts';

describe('numbers and times for people', () => {
  it('never round something to nothing, nor most to all', () => {
    expect([0, 1e-9, 0.0003, 0.1234, 0.995, 0.99999999, 1].map(percent)).toEqual([
      ...['0 %', '< 0.01 %', '0.03 %', '12.3 %', '99.50 %', '> 99.99 %', '100 %'],
    ]);
    expect([0, 0.001, 0.25, 12.34, 20, 12_345.6].map(perSecond)).toEqual([
      ...['0', '< 0.01', '0.25', '12.3', '20', '12,346'],
    ]);
  });

  it('have units', () => {
    expect([0, 0.00082, 0.0013, 0.042, 2.44].map(duration)).toEqual([
      '0 ms',
      '820 µs',
      '1.3 ms',
      '42 ms',
      '2.4 s',
    ]);
    expect([4711, 1_234_567, 2n ** 63n].map(short)).toEqual(['4,711', '1.2M', '9,223,372T']);
    expect([999, 61_000, 3.7e6, 1e8, 4e11].map(span)).toEqual([
      ...['0 seconds', '1 minute', '1 hour', '1 day', '12 years'],
    ]);
  });

  it('say whether a time is past', () => {
    expect(relative(0, 7_200_000)).toBe('2 hours ago');
    expect(relative(60_000, 0)).toBe('in 1 minute');
    expect(relative(0, 100)).toBe('just now');
  });
});

describe('numbers that people type', () => {
  it('may be of any size, and stay exact', () => {
    expect(typedDigits('Start', ' 9223372036854775807 ')).toEqual({ value: '9223372036854775807' });
    expect(typedDigits('Start', '−5')).toEqual({ value: '-5' });
    expect(typedDigits('Start', '')).toEqual({ value: undefined });
  });

  it.each(['1.5', '1e3', 'ten', '0x10', '1 000', '--1'])('are not %s', (text) => {
    expect(typedDigits('Start', text)).toEqual({ error: 'Start must be a whole number.' });
  });

  it('are refused where a number cannot hold them', () => {
    expect(typedNumber('Step', '9007199254740991')).toEqual({ value: 9007199254740991 });
    expect(typedNumber('Step', '9007199254740993')).toEqual({ error: 'Step must be within ±(2^53 − 1).' });
  });
});

describe('the error of a request', () => {
  const fields = ['name', 'start', 'blockSize', 'min', 'count'];
  const errors = (detail: string, code = 'INVALID_OPTION') =>
    errorsOf(new ApiError({ status: 422, code, detail }), fields);

  it.each([
    ['blockSize must be a whole number from 1 to 2147483647, not 0', 'blockSize'],
    ['min must be at most max, which is 5, not 9', 'min'],
    ['the name of a sequence must be text of 1 to 255 characters', 'name'],
    ['count must be at most 10 for this token, not 11', 'count'],
  ])('%s stands beside %s', (detail, field) => {
    expect(errors(detail)).toEqual({ [field]: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.` });
  });

  it('loses what only a program wants to know', () => {
    expect(errors('count in the query must be <= 10000')).toEqual({ count: 'Count must be at most 10000.' });
  });

  it('is about the name when there is one of that name, or none', () => {
    expect(errors('there is a sequence "a"', 'SEQUENCE_EXISTS')).toHaveProperty('name');
    expect(errors('there is no sequence "a"', 'NO_SUCH_SEQUENCE')).toHaveProperty('name');
  });

  it('is about the whole form otherwise', () => {
    expect(errors('the store is away', 'STORE')).toEqual({ [WHOLE_FORM]: 'The store is away.' });
    expect(errorsOf(new Error('what?'), fields)).toEqual({ [WHOLE_FORM]: 'What?' });
  });
});
