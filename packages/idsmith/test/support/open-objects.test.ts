import { describe, expect, it } from 'vitest';
import { OpenObjects, type OpenObjectsRules } from '../../src/support/open-objects.ts';

interface Thing {
  isClosed: boolean;
}

const open = (more: Partial<OpenObjectsRules<Thing>> = {}) =>
  new OpenObjects<Thing>({ kind: 'thing', otherwise: 'close it first', ...more });
const make = (): Thing => ({ isClosed: false });

describe('open objects', () => {
  it('give the same object for the same name, and one for each name', () => {
    const things = open();
    const a = things.get('a', { size: 1 }, make);
    expect(things.get('a', { size: 1 }, make)).toBe(a);
    expect(things.get('b', { size: 1 }, make)).not.toBe(a);
    expect(things.all).toHaveLength(2);
    expect([things.has('a'), things.has('c')]).toEqual([true, false]);
  });

  it('refuse another option for a name, with the way out', () => {
    const things = open();
    things.get('a', { size: 1, colour: 'red' }, make);
    expect(() => things.get('a', { size: 2 }, make)).toThrow(
      'thing "a" is open with another size: use the same options, or close it first',
    );
    expect(() => things.get('a', { shape: 'round' }, make)).toThrow('another shape');
  });

  it('do not compare options that are left out', () => {
    const things = open();
    const a = things.get('a', { size: 1 }, make);
    expect(things.get('a', {}, make)).toBe(a);
    expect(things.get('a', { size: undefined }, make)).toBe(a);
  });

  it('compare with the default of an option that was left out at the opening', () => {
    const things = open({ defaults: { size: 1 } });
    const a = things.get('a', { size: undefined }, make);
    expect(things.get('a', { size: 1 }, make)).toBe(a);
    expect(() => things.get('a', { size: 2 }, make)).toThrow('another size');
  });

  it('compare values by what they mean, if told how', () => {
    const things = open({ isSame: (before, given) => String(before) === String(given) });
    const a = things.get('a', { size: 1n }, make);
    expect(things.get('a', { size: 1 }, make)).toBe(a);
  });

  it('open another object in the place of one that was closed, with any options', () => {
    const things = open({ isOpen: ({ isClosed }) => !isClosed });
    const a = things.get('a', { size: 1 }, make);
    a.isClosed = true;
    expect(things.has('a')).toBe(false);
    const next = things.get('a', { size: 2 }, make);
    expect(next).not.toBe(a);
    expect(things.all).toEqual([next]);
  });

  it('forget a name, or one object of a name', () => {
    const things = open();
    const a = things.get('a', {}, make);
    things.delete('a', make());
    expect(things.has('a')).toBe(true);
    things.delete('a', a);
    expect(things.has('a')).toBe(false);
    things.get('a', {}, make);
    things.get('b', {}, make);
    things.delete('b');
    expect(things.has('b')).toBe(false);
    things.clear();
    expect(things.all).toEqual([]);
  });

  it('keep nothing of an opening that fails', () => {
    const things = open();
    const fail = () => {
      throw new Error('no');
    };
    expect(() => things.get('a', { size: 1 }, fail)).toThrow('no');
    expect(things.has('a')).toBe(false);
  });
});
