import { ShardMap } from '@idsmith/shard';
import fc from 'fast-check';
import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { vectors } from '../../../idsmith/test/support/vectors.ts';

const { subKeys } = vectors<{
  subKeys: { config: Record<string, string>; minifyDocumented: { input: object; output: object } };
}>('shard-keys');

const withSubKeys = (config: Record<string, string>) =>
  new ShardMap({ shards: { 0: ['1', 'h', 1] }, options: { subKeys: config } });
const map = withSubKeys(subKeys.config);

describe('minify and maxify', () => {
  it('do what Shardjs documents, not what its code does', () => {
    const { input, output } = subKeys.minifyDocumented;
    expect(map.minify(input)).toEqual(output);
    expect(map.maxify(output)).toEqual(input);
  });

  it('keep names that they do not know', () => {
    expect(map.minify({ name: 'John', zip: 'x' })).toEqual({ n: 'John', zip: 'x' });
    expect(map.maxify({ n: 'John', zip: 'x' })).toEqual({ name: 'John', zip: 'x' });
  });

  it('go through arrays and plain objects, and leave all else alone', () => {
    const born = new Date(0);
    const object = { name: 'John', friends: [{ name: 'Ada', city: 'London' }], home: { city: 'Rome' }, born };
    const short = map.minify(object);
    expect(short).toEqual({ n: 'John', friends: [{ n: 'Ada', c: 'London' }], home: { c: 'Rome' }, born });
    expect((short as typeof object).born).toBe(born);
    expect(map.maxify(short)).toEqual(object);
    expect(object.name).toBe('John');
    expect(map.minify(['name', 5, null, undefined])).toEqual(['name', 5, null, undefined]);
  });

  it('sequence a name that looks like a short form, so that it clashes with none and comes back', () => {
    const object = { name: 'John', n: 'noon', '~n': 'tilde', '~other': 1 };
    expect(map.minify(object)).toEqual({ n: 'John', '~n': 'noon', '~~n': 'tilde', '~other': 1 });
    expect(map.maxify(map.minify(object))).toEqual(object);
  });

  it('are inverse for any object and any short names, also where one is the long name of another', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', '~a', '~b', '~~c', 'x', '__proto__', 'constructor');
    const names = fc
      .uniqueArray(fc.tuple(name, fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__')), {
        comparator: (one, two) => one[0] === two[0] || one[1] === two[1],
      })
      .map((entries) => withSubKeys(Object.fromEntries(entries)));
    const object = fc.letrec((tie) => ({
      object: fc
        .array(fc.tuple(name, tie('value')), { maxLength: 6 })
        .map((entries) => Object.fromEntries(entries)),
      value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.array(tie('value'), { maxLength: 3 }), tie('object')),
    })).object;
    fc.assert(
      fc.property(names, object, (map, value) => {
        expect(Object.entries(map.maxify(map.minify(value)))).toEqual(Object.entries(value));
      }),
    );
  });

  it('refuse an object that contains itself', () => {
    const object: { self?: unknown } = {};
    object.self = { object };
    expect(() => map.minify(object)).toThrow(InvalidOptionError);
  });
});
