import fc from 'fast-check';
import { type PublicId, publicIds } from 'idsmith/public';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { writeBase32 } from '../../src/encoding/base32.ts';
import { deriveKey } from '../../src/public/derive-key.ts';
import { aesBlock } from '../../src/runtime/cipher-node.ts';
import { vectors } from '../support/vectors.ts';
import { invalid, OTHER, orders, refused, SECRET } from './set-up.ts';

const FLAKE = 1703865194431643648n;
const UUID = '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8';
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });

interface Row {
  of: 'int64' | 'uuid';
  short?: boolean;
  key: string;
  keyId: number;
  prefix: string;
  id: string;
  text: string;
}

describe('public ids', () => {
  it('are equal to those of a second implementation, in every form', () => {
    const { rows } = vectors<{ rows: Row[] }>('public-ids');
    expect(rows.length).toBeGreaterThan(200);
    for (const { of, short = false, key, keyId, prefix, id, text } of rows) {
      const ids = publicIds({ prefix, keys: { [keyId]: key }, of, short });
      expect([ids.encode(id), String(ids.decode(text))]).toEqual([text, id]);
    }
  });

  it('hold any number of 64 bits, signed or unsigned', () => {
    const ids = orders();
    fc.assert(
      fc.property(int64, (id) => {
        const text = ids.encode(id);
        expect(text).toMatch(/^ord_[0-9a-hjkmnp-tv-z]{27}$/);
        expect([ids.decode(text), ids.encode(String(id)) === text]).toEqual([id, true]);
      }),
    );
    expectTypeOf(ids.encode(FLAKE)).toEqualTypeOf<PublicId<'ord'>>();
    expectTypeOf(ids.decode).returns.toEqualTypeOf<bigint>();
  });

  it('hold UUIDs of any version, and give them back in lower case', () => {
    const ids = orders({ of: 'uuid' });
    fc.assert(
      fc.property(fc.uuid({ version: [1, 4, 7, 8] }), (id) => {
        const text = ids.encode(id.toUpperCase());
        expect(text).toMatch(/^ord_[0-9a-hjkmnp-tv-z]{36}$/);
        expect(ids.decode(text)).toBe(id);
      }),
    );
    expectTypeOf(ids.decode).returns.toEqualTypeOf<string>();
  });

  it('are short on demand: 13 characters for 0 to 2^63 - 1', () => {
    const ids = orders({ short: true });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (id) => {
        const text = ids.encode(id);
        expect(text).toMatch(/^ord_[0-9A-Za-z]{13}$/);
        expect(ids.decode(text)).toBe(id);
      }),
      { numRuns: 50 },
    );
    for (const id of [-1n, 2n ** 63n]) expect(() => ids.encode(id)).toThrow(/short id, which holds 0 to/);
  });

  it('do not show order or neighbours: half of the bits change with the lowest bit of the id', () => {
    const ids = orders();
    const texts = Array.from({ length: 1000 }, (_, i) => ids.encode(FLAKE + BigInt(i)));
    const rising = texts.filter((text, i) => i > 0 && text > (texts[i - 1] as string)).length;
    expect(rising).toBeGreaterThan(400);
    expect(rising).toBeLessThan(600);
    const changed = (at: number) =>
      texts.filter((text, i) => i > 0 && text[at] !== texts[i - 1]?.[at]).length;
    // The first two characters hold the key id and little else.
    for (let at = 6; at < 31; at++) expect(changed(at)).toBeGreaterThan(900);
  });
});

describe('a text that was changed', () => {
  const makers = [
    ['int64', orders(), FLAKE],
    ['uuid', orders({ of: 'uuid' }), UUID],
  ] as const;

  it.each(makers)('in any one character is refused: %s', (_name, ids, id) => {
    const text = ids.encode(id);
    for (let at = 0; at < text.length; at++) {
      for (const character of '0123456789abcdefghijklmnopqrstuvwxyzABCXYZ_-ſK') {
        const changed = text.slice(0, at) + character + text.slice(at + 1);
        if (changed !== text) expect([changed, ids.is(changed)]).toEqual([changed, false]);
      }
    }
  });

  it('in one character is refused in the short form, nearly always', () => {
    const ids = orders({ short: true });
    const text = ids.encode(FLAKE);
    const changed = [...'0123456789ABCXYZabcxyz'].flatMap((character) =>
      Array.from({ length: 13 }, (_, i) => text.slice(0, 4 + i) + character + text.slice(5 + i)),
    );
    const passed = changed.filter((other) => other !== text && ids.is(other));
    // Each passes with a chance of 1 in 2,048.
    expect(passed.length).toBeLessThanOrEqual(3);
  });

  it.each(['int64', 'uuid'] as const)('into random characters is refused, 100,000 times: %s', (of) => {
    const ids = orders({ of });
    const length = of === 'uuid' ? 36 : 27;
    const digits = '0123456789abcdefghjkmnpqrstvwxyz';
    let passed = 0;
    for (let i = 0; i < 100_000; i++) {
      const body = Array.from({ length }, () => digits[Math.floor(Math.random() * 32)]).join('');
      // The first two digits of key id 1, so that the tag decides.
      if (ids.is(`ord_0${digits[8 + Math.floor(Math.random() * 8)]}${body.slice(2)}`)) passed++;
    }
    expect(passed).toBe(0);
  });

  it('is refused with a reason that names no id and no key', () => {
    const ids = orders();
    const text = ids.encode(FLAKE);
    const reasons: [unknown, RegExp][] = [
      [text.replace('ord', 'org'), /does not begin with ord_/],
      [`${text}0`, /must have 31 characters/],
      [text.slice(0, -1), /must have 31 characters/],
      [text.toUpperCase(), /does not begin/],
      [`ord_${text.slice(4).toUpperCase()}`, /0-9 and a-z without i, l, o and u/],
      [`${text.slice(0, -1)}o`, /0-9 and a-z without i, l, o and u/],
      [`ord_4${text.slice(5)}`, /names key \d+, which is not among the keys/],
      [`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`, /changed, or made with another key/],
      [` ${text}`, /does not begin/],
      [`${text}\n`, /must have 31/],
      [5, /is not text/],
      [null, /is not text/],
      [{ toString: () => text }, /is not text/],
    ];
    for (const [value, reason] of reasons) {
      expect(() => ids.decode(value as string)).toThrow(invalid);
      expect(() => ids.decode(value as string)).toThrow(reason);
      expect(ids.is(value)).toBe(false);
    }
  });

  it('never makes is() or the schema throw', () => {
    const ids = orders();
    const hostile = fc.oneof(
      fc.string(),
      fc.string().map((text) => `ord_${text}`),
      fc.anything(),
    );
    fc.assert(
      fc.property(hostile, (value) => {
        expect(ids.is(value)).toBe(false);
        expect(ids['~standard'].validate(value)).toHaveProperty('issues');
      }),
    );
  });
});

describe('a text', () => {
  it('is not taken for one of another prefix, key, content or form', () => {
    const makers = [
      orders(),
      publicIds({ prefix: 'org', keys: { 1: SECRET } }),
      orders({ keys: { 1: OTHER } }),
      orders({ keys: { 2: SECRET } }),
      orders({ of: 'uuid' }),
      orders({ short: true }),
    ];
    const texts = makers.map((ids) => ids.encode(ids.of === 'uuid' ? UUID : '5'));
    for (const [i, ids] of makers.entries())
      for (const [j, text] of texts.entries()) {
        const renamed = `${ids.prefix}_${text.slice(4)}`;
        expect([i, j, ids.is(text), ids.is(renamed)]).toEqual([i, j, i === j, i === j]);
      }
  });

  it('is the only one of its id: no other block passes for the same number', () => {
    const ids = orders();
    const cipher = aesBlock(deriveKey(Buffer.from(SECRET, 'hex'), 'int64', 'ord'));
    const textOf = (check: bigint, id: bigint) => {
      const block = new DataView(new ArrayBuffer(16));
      block.setBigUint64(0, check);
      block.setBigUint64(8, BigInt.asUintN(64, id));
      const text = new Uint8Array(27);
      writeBase32(text, 0, 1, 7, cipher.encrypt(new Uint8Array(block.buffer)));
      return `ord_${Buffer.from(text).toString('latin1')}`;
    };
    expect(textOf(0n, 5n)).toBe(ids.encode(5n));
    expect(textOf(1n, -1n)).toBe(ids.encode(2n ** 64n - 1n));
    expect(ids.is(textOf(1n, 5n))).toBe(false);
    for (let bit = 1n; bit < 64n; bit++)
      for (const id of [5n, -5n])
        for (const low of [0n, 1n])
          expect([bit, ids.is(textOf((1n << bit) | low, id))]).toEqual([bit, false]);
  });
});

describe('keys', () => {
  it('rotate: the highest id encodes, and all decode', () => {
    const before = orders({ keys: { 1: SECRET } });
    const both = orders({ keys: { 1: SECRET, 2: OTHER } });
    const after = orders({ keys: { 2: OTHER } });
    const [old, fresh] = [before.encode(7n), both.encode(7n)];
    expect([both.decode(old), both.decode(fresh), after.decode(fresh)]).toEqual([7n, 7n, 7n]);
    expect(() => after.decode(old)).toThrow(/names key 1, which is not among the keys/);
    expect(() => before.decode(fresh)).toThrow(invalid);
    const kept = orders({ keys: { 1: SECRET, 2: OTHER }, current: 1 });
    expect([kept.encode(7n), kept.decode(fresh)]).toEqual([old, 7n]);
  });

  it('are bytes, hex digits or base64 in either alphabet, and the bytes are copied', () => {
    const bytes = Uint8Array.from(Buffer.from(OTHER, 'hex'));
    const buffer = Buffer.from(OTHER, 'hex');
    const text = orders({ keys: { 1: OTHER } }).encode(7n);
    const forms = [
      bytes,
      buffer,
      OTHER.toUpperCase(),
      buffer.toString('base64'),
      buffer.toString('base64url'),
    ];
    for (const key of [...forms, `${buffer.toString('base64')}\n`])
      expect(orders({ keys: { 1: key } }).encode(7n)).toBe(text);
    const ids = orders({ keys: { 1: bytes } });
    bytes.fill(9);
    expect(ids.encode(7n)).toBe(text);
  });

  it.each<[string, unknown]>([
    ['too short', SECRET.slice(2)],
    ['31 bytes', new Uint8Array(31).map((_, i) => i)],
    ['a passphrase', 'correct horse battery staple 1234'],
    ['another digit', `${SECRET.slice(0, 63)}g`],
    ['base64 with bits to spare', `${Buffer.from(SECRET, 'hex').toString('base64').slice(0, 42)}9=`],
    ['zeroes', new Uint8Array(32)],
    ['one byte repeated', 'ab'.repeat(32)],
    ['a number', 7],
    ['nothing', undefined],
    ['null', null],
    ['another array', new Uint16Array(32)],
  ])('that are wrong are refused, and not shown: %s', (_name, key) => {
    const make = () => orders({ keys: { 1: SECRET, 2: key as string } });
    expect(make).toThrow(refused);
    expect(make).toThrow(/key 2/);
    if (typeof key === 'string') expect(make).not.toThrow(key.slice(0, 12));
  });

  it('does not show a key that stands in the place of its id', () => {
    const swapped = { [SECRET]: '1' } as never;
    expect(() => publicIds({ prefix: 'ord', keys: swapped })).toThrow(
      /^an id in keys must be a whole number from 0 to 127: give \{ 1: secret \}$/,
    );
  });

  it('need ids that fit into the text, and differ', () => {
    for (const id of ['128', '-1', '1.5', 'x', '01', '']) {
      expect(() => orders({ keys: { [id]: SECRET } })).toThrow(
        /an id in keys must be a whole number from 0 to 127/,
      );
    }
    expect(orders({ keys: { 127: SECRET } }).decode(orders({ keys: { 127: SECRET } }).encode(3n))).toBe(3n);
    expect(() => orders({ keys: { 10: SECRET }, short: true })).toThrow(/from 0 to 9/);
    expect(() => orders({ keys: { 1: SECRET, 2: SECRET.toUpperCase() } })).toThrow(
      'keys 1 and 2 are the same',
    );
    expect(() => orders({ keys: {} })).toThrow(/keys is empty/);
    for (const keys of [null, 'x', new Uint8Array(32), undefined])
      expect(() => publicIds({ prefix: 'ord', keys: keys as never })).toThrow(refused);
    expect(() => orders({ current: 2 })).toThrow(/current must be the id of one of the keys \(1\), not 2/);
  });

  it('are not in what is printed', () => {
    const ids = orders({ keys: { 1: OTHER } });
    expect(JSON.stringify(ids) + Object.values(ids).map(String).join()).not.toContain(OTHER.slice(0, 8));
  });
});

describe('bad input', () => {
  it.each<[unknown]>([
    [5],
    [2n ** 64n],
    [-(2n ** 63n) - 1n],
    [''],
    ['-0'],
    ['007'],
    ['+7'],
    [' 7'],
    ['7n'],
    ['0x7'],
    ['1e3'],
    ['99999999999999999999'],
    ['9'.repeat(100_000)],
    [null],
    [undefined],
    [UUID],
    [{}],
  ])('is not encoded as a number: %s', (id) => {
    expect(() => orders().encode(id as string)).toThrow(invalid);
  });

  it.each<[unknown]>([
    [7n],
    ['7'],
    [`{${UUID}}`],
    [UUID.replaceAll('-', '')],
    [`${UUID} `],
    [UUID.replace('0', 'g')],
    [UUID.replace('-', '0')],
    [`${UUID.slice(0, 35)}０`],
    [null],
  ])('is not encoded as a UUID: %s', (id) => {
    expect(() => orders({ of: 'uuid' }).encode(id as string)).toThrow(invalid);
  });

  it.each(['', '_', 'Ord', 'ord_', '_ord', 'or1', 'or-d', 'ö', 'a'.repeat(64), 7, null, undefined])(
    'is the prefix %s',
    (prefix) => {
      expect(() => publicIds({ prefix: prefix as string, keys: { 1: SECRET } })).toThrow(refused);
    },
  );

  it('is an option that is not known, or does not go with another', () => {
    expect(() => orders({ shrot: true } as object)).toThrow(/did you mean "short"/);
    expect(() => orders({ of: 'uuid', short: true })).toThrow(/no room for a UUID/);
    expect(() => orders({ of: 'int32' as never })).toThrow(refused);
    expect(() => orders({ short: 1 as never })).toThrow(refused);
  });
});

describe('the Standard Schema of public ids', () => {
  it('validates texts', () => {
    const ids = orders();
    const text = ids.encode(7n);
    const { validate, version, vendor } = ids['~standard'];
    expect([version, vendor, validate(text)]).toEqual([1, 'idsmith', { value: text }]);
    expect(validate(`${text}x`)).toEqual({ issues: [{ message: expect.stringContaining('31 characters') }] });
  });
});
