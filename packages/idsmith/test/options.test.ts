import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import {
  nearestName,
  requireChoice,
  requireInteger,
  requireKnown,
  requireMethod,
  show,
} from '../src/options.ts';

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

describe('the names of options', () => {
  it('may be any of the known ones, or none', () => {
    const options = { node: 1, clock: undefined };
    expect(requireKnown('options', options, ['node', 'clock'])).toBe(options);
    expect(requireKnown('options', {}, ['node'])).toEqual({});
  });

  it('are refused when they are unknown, with the nearest known one', () => {
    const misspelt = () => requireKnown('options', { nod: 1 }, ['node', 'clock']);
    expect(misspelt).toThrow(InvalidOptionError);
    expect(misspelt).toThrow('options: unknown name "nod"; did you mean "node"? (known: node, clock)');
  });

  it('are refused without advice when nothing is near', () => {
    expect(() => requireKnown('options', { colour: 1 }, ['node'])).toThrow(
      'options: unknown name "colour" (known: node)',
    );
  });

  it.each([null, undefined, 5, 'text'])('%s has none, for it is no object', (value) => {
    expect(() => requireKnown('options', value as never, ['node'])).toThrow(
      'options must be an object, not ',
    );
  });

  it.each([
    ['tll', 'ttl'],
    ['onfull', 'onFull'],
    ['epcoh', 'epoch'],
    ['prefech', 'prefetch'],
    ['fence', 'fenced'],
    ['', undefined],
    ['x', undefined],
  ])('%s is near %s', (name, known) => {
    expect(nearestName(name, ['ttl', 'onFull', 'epoch', 'prefetch', 'fenced', 'size'])).toBe(known);
  });
});
