import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base62Digit, base62Pair, toBase62 } from '../../src/encoding/base62.ts';

/** The number of a text, digit by digit. */
const numberOf = (text: string) =>
  [...text].reduce((value, digit) => value * 62 + base62Digit(digit.charCodeAt(0)), 0);

describe('base 62', () => {
  it.each([
    [0, '0'],
    [9, '9'],
    [10, 'A'],
    [35, 'Z'],
    [36, 'a'],
    [61, 'z'],
    [62, '10'],
    [3843, 'zz'],
    [Number.MAX_SAFE_INTEGER, 'fFgnDxSe7'],
  ])('writes %d as %s and reads it back', (value, text) => {
    expect(toBase62(value)).toBe(text);
    expect(numberOf(text)).toBe(value);
  });

  it('pads to a width and never cuts', () => {
    expect(toBase62(1, 2)).toBe('01');
    expect(toBase62(3844, 2)).toBe('100');
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('does not write %d', (value) => {
    expect(toBase62(value)).toBeUndefined();
  });

  it('writes numbers around the multiples of 62^4, where it divides, as any others', () => {
    for (const multiple of [1, 2, 61, 62, 3844, 31_764, 2 ** 29 - 1, 2 ** 29, 609_568_905]) {
      for (const value of [-2, -1, 0, 1, 2].map((offset) => multiple * 62 ** 4 + offset)) {
        expect(numberOf(toBase62(value)!)).toBe(value);
        expect(toBase62(value)).toMatch(/^[1-9A-Za-z]/);
      }
    }
  });

  it('never rounds a number just below a multiple of 62^4 up to the multiple', () => {
    const multiple = fc.integer({ min: 1, max: Math.floor(Number.MAX_SAFE_INTEGER / 62 ** 4) });
    fc.assert(
      fc.property(multiple, (times) => {
        expect(toBase62(times * 62 ** 4 - 1)).toMatch(/zzzz$/);
      }),
      { numRuns: 10_000 },
    );
  });

  it('has a pair of digits for each number below 62^2', () => {
    for (let value = 0; value < 3844; value++) expect(base62Pair(value)).toBe(toBase62(value, 2));
    for (const value of [-1, 3844, 0.5, Number.NaN]) expect(base62Pair(value)).toBeUndefined();
  });

  it('knows exactly 62 digits', () => {
    const digits = Array.from({ length: 0x10000 }, (_, code) => code).filter(
      (code) => base62Digit(code) >= 0,
    );
    expect(digits).toHaveLength(62);
  });

  it('round-trips any safe number and keeps its order at one width', () => {
    const number = fc.maxSafeNat();
    fc.assert(
      fc.property(number, number, (a, b) => {
        const [textA, textB] = [toBase62(a, 9) as string, toBase62(b, 9) as string];
        expect(numberOf(textA)).toBe(a);
        expect(Math.sign(a - b)).toBe(textA < textB ? -1 : textA > textB ? 1 : 0);
      }),
    );
  });
});
