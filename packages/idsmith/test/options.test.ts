import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { requireChoice, requireInteger, requireMethod, show } from '../src/options.ts';

describe('a value in a message', () => {
  it.each([
    ['text', '"text"'],
    ['"quoted"\n', '"\\"quoted\\"\\n"'],
    ['x'.repeat(61), `"${'x'.repeat(57)}..."`],
    [5, '5'],
    [Number.NaN, 'NaN'],
    [5n, '5'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('id'), 'Symbol(id)'],
    [new Uint8Array(5), '5 bytes'],
    [Object.create(null), 'an object'],
  ])('%o is shown as %s', (value, shown) => {
    expect(show(value)).toBe(shown);
  });
});

describe('a whole number', () => {
  it.each([1, 2, 3])('%d is within 1 and 3', (value) => {
    expect(requireInteger('count', value, 1, 3)).toBe(value);
  });

  it.each([0, 4, 1.5, Number.NaN, '2', 2n, null, undefined])('%s is not', (value) => {
    expect(() => requireInteger('count', value, 1, 3)).toThrow(InvalidOptionError);
    expect(() => requireInteger('count', value, 1, 3)).toThrow(
      'count must be a whole number from 1 to 3, not ',
    );
  });
});

describe('a choice', () => {
  it('is the first when it is left out, and may be any', () => {
    expect(requireChoice('mode', undefined, ['a', 'b'])).toBe('a');
    expect(requireChoice('mode', 'b', ['a', 'b'])).toBe('b');
  });

  it('is none other', () => {
    expect(() => requireChoice('mode', 'c', ['a', 'b'])).toThrow('mode must be "a" or "b", not "c"');
    expect(() => requireChoice('mode', null, ['a', 'b'])).toThrow('mode must be "a" or "b", not null');
  });
});

describe('an object with a method', () => {
  const fallback = { now: () => 1 };
  it('is the fallback when it is left out', () => {
    expect(requireMethod('clock', 'now', undefined, fallback)).toBe(fallback);
  });

  it.each([null, 5, 'now', {}, { now: 5 }])('is not %j', (value) => {
    expect(() => requireMethod('clock', 'now', value as never, fallback)).toThrow(
      /^clock must be an object with a method now\(\), not /,
    );
  });
});
