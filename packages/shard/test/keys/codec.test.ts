import { ShardMap } from '@idsmith/shard';
import fc from 'fast-check';
import { InvalidIdError, InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { vectors } from '../../../idsmith/test/support/vectors.ts';
import { README_OPTIONS } from '../start-shards.ts';

interface KeyVectors {
  readonly keys: {
    key: string;
    type: string;
    time: number;
    decimal: string;
    m: number;
    v: number;
    t: number;
  }[];
  readonly fixedKey: { args: [number, number, number, string?]; key: string }[];
  readonly keyTypes: Record<string, number>;
  readonly specialKeys: Record<string, string>;
  readonly bad: { key: string; whereErr: string | number }[];
}

const { keys, fixedKey, bad, ...known } = vectors<KeyVectors>('shard-keys');
const EPOCH = 1325404800000;

/** A map on nodes that are never talked to. */
function offline(size = 4, options = {}): ShardMap {
  const ports = Array.from({ length: size }, (_, i) => [i, [String(63_700 + i), '127.0.0.1', 1]]);
  return new ShardMap({ shards: Object.fromEntries(ports), options: { ...README_OPTIONS, ...options } });
}

const map = offline();
map.addKeyType('token', 61);
map.addKeyType('big', 3842);

describe('A key', () => {
  it.each(keys)('$key says what Shardjs says', ({ key, type, decimal, m, v, t }) => {
    expect(map.getType(key)).toBe(type);
    expect(map.toDecimalString(key)).toBe(decimal);
    // Shardjs counts a suffix into the time; here it is left out.
    expect(map.getTime(key)).toEqual(new Date(EPOCH + m));
    const [stem, suffix] = key.split('-');
    const width = map.fixedKey(m, v, t).length;
    expect(map.fixedKey(m, v, t, suffix)).toBe(suffix === undefined ? stem!.padStart(width, '0') : key);
  });

  it.each([
    ['1jyVFw3401', 1595487784, 190, 1],
    ['1jyVFw3501', 1595487784, 191, 1],
    ['2T4QmCrM03', 2261835652, 3308, 3],
  ])('%s of the readme is made of %d, %d and %d', (key, ms, variant, type) => {
    expect(map.fixedKey(ms, variant, type)).toBe(key);
    expect(map.toDecimalString(key)).toBe(
      `${ms}${String(variant).padStart(4, '0')}${String(type).padStart(4, '0')}`,
    );
  });

  it('of the readme belongs to the virtual shard 1595487784 % 64 = 40', () => {
    expect(offline(64).virtualShardOf('1jyVFw3401')).toBe(40);
  });

  it('of any parts can be read again', () => {
    const part = fc.integer({ min: 0, max: 3843 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8.64e15 - EPOCH }), part, part, (ms, variant, type) => {
        const key = map.fixedKey(ms, variant, type);
        expect(map.getTime(key).getTime()).toBe(EPOCH + ms);
        expect(map.toDecimalString(key).slice(-8)).toBe(
          `${String(variant).padStart(4, '0')}${String(type).padStart(4, '0')}`,
        );
        expect(map.virtualShardOf(key)).toBe(ms % 4);
      }),
    );
  });

  it('of a later millisecond or variant sorts after an earlier one, until the year 2123', () => {
    const position = fc.tuple(
      fc.integer({ min: 62 ** 6, max: 62 ** 7 - 1 }),
      fc.integer({ min: 0, max: 3843 }),
    );
    fc.assert(
      fc.property(position, position, ([ms1, v1], [ms2, v2]) => {
        const [one, two] = [map.fixedKey(ms1, v1, 2), map.fixedKey(ms2, v2, 2)];
        expect(one < two).toBe(ms1 < ms2 || (ms1 === ms2 && v1 < v2));
      }),
    );
  });
});

describe('A fixed key', () => {
  it.each(fixedKey.filter(({ args }) => args[2] < 3844))('of $args is $key, as Shardjs has it', (row) => {
    expect(map.fixedKey(...row.args)).toBe(row.key);
  });

  it('takes the name of a type, too', () => {
    expect(map.fixedKey(2, 0, 'index', 'emails')).toBe('020000-emails');
  });

  it.each([
    ['the type 3844, which Shardjs writes with three digits', [0, 0, 3844], /^type .*3844/],
    ['an unknown type', [0, 0, 'nosuch'], /^type .*"nosuch"/],
    ['no type', [0, 0, undefined], /^type /],
    ['a negative time', [-1, 0, 0], /^timestamp .*-1/],
    ['a time that is no whole number', [1.5, 0, 0], /^timestamp .*1\.5/],
    ['a negative variant', [0, -1, 0], /^variant .*-1/],
    ['a suffix of which nothing is left', [0, 0, 0, '!?'], /^suffix .*"!\?"/],
  ] as [string, [number, number, number, string?], RegExp][])('with %s is refused', (_, args, message) => {
    expect(() => map.fixedKey(...args)).toThrow(InvalidOptionError);
    expect(() => map.fixedKey(...args)).toThrow(message);
  });
});

describe('Types and special keys', () => {
  it('are those of the config, the default type among them', () => {
    const both = offline(4, {
      keyTypes: { ...README_OPTIONS.keyTypes, token: 61, big: 3842 },
      specialKeys: { ...README_OPTIONS.specialKeys, 'odd name!': [4000, 'token'] },
    });
    both.addKeyType('extra', 77);
    both.addSpecialKey('new', [9, 'extra']);
    expect(both.keyTypes).toEqual(known.keyTypes);
    expect(both.specialKeys).toEqual(known.specialKeys);
  });

  it('of a config stay what they are when the map gets more, and the other way round', () => {
    const keyTypes = { user: 2 };
    const other = offline(1, { keyTypes, specialKeys: {} });
    other.addKeyType('extra', 77);
    expect(keyTypes).toEqual({ user: 2 });
    other.keyTypes['sneaked in'] = 5;
    expect(other.keyTypes).toEqual({ user: 2, extra: 77, $DEF: 3843 });
  });

  it('may name the default type, which Shardjs writes into the config it is given', () => {
    expect(offline(1, { keyTypes: { $DEF: 3843 }, specialKeys: {} }).keyTypes).toEqual({ $DEF: 3843 });
  });

  it('are undefined for a type that has no name here, where Shardjs takes the key for a bad one', () => {
    expect(map.getType('1jyVFw3406')).toBeUndefined();
    expect(map.getType('1jyVFw34zz')).toBe('$DEF');
  });
});

describe('Changing the type of a key', () => {
  it.each([
    ['user', '1jyVFw3402'],
    ['index', '1jyVFw3400'],
    [0, '1jyVFw3400'],
    [3843, '1jyVFw34zz'],
  ])('to %s gives %s, type 0 included', (type, changed) => {
    expect(map.changeKeyType('1jyVFw3401', type)).toBe(changed);
  });

  it('keeps the suffix', () => {
    expect(map.changeKeyType('1jyVFw3401-tags', 'user')).toBe('1jyVFw3402-tags');
  });

  it.each(['nosuch', 3844, 4000, -1, 1.5, null, undefined])(
    'to %s is refused, not made the default',
    (type) => {
      expect(() => map.changeKeyType('1jyVFw3401', type as string)).toThrow(InvalidOptionError);
    },
  );
});

describe('What is no key', () => {
  const noKeys = [
    ...bad.filter(({ whereErr }) => whereErr === -1).map(({ key }) => key),
    'abcd',
    '1',
    '-',
    '-users',
  ];
  const alsoNone = ['1jyVFw_401', 'a b c d', '1jyVFw3é01', '1jyVFw34:1', ' 1jyVFw3401', 'zzzzzzzzzzzzzz0000'];

  it.each([...noKeys, ...alsoNone])('%j is an InvalidIdError everywhere, not on a default shard', (key) => {
    for (const ask of [
      () => map.whereIs(key),
      () => map.getClient(key),
      () => map.virtualShardOf(key),
      () => map.getType(key),
      () => map.getTime(key),
      () => map.toDecimalString(key),
      () => map.changeKeyType(key, 'user'),
    ]) {
      expect(ask).toThrow(InvalidIdError);
      expect(ask).toThrow(JSON.stringify(key.length > 60 ? key.slice(0, 57) : key).slice(0, -1));
    }
  });

  it.each([undefined, null, 5, {}, ['1jyVFw3401']])('%j is an InvalidIdError, too', (key) => {
    expect(() => map.whereIs(key as string)).toThrow(InvalidIdError);
    expect(() => map.ownerOf(key as string)).toThrow(InvalidIdError);
  });
});
