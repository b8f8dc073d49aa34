import fc from 'fast-check';
import { InvalidIdError, InvalidOptionError } from 'idsmith';
import { inspect } from 'idsmith/inspect';
import { typeIds } from 'idsmith/typeid';
import { uuid7 } from 'idsmith/uuid7';
import { describe, expect, expectTypeOf, it } from 'vitest';
import invalid from '../vectors/typeid-invalid.json' with { type: 'json' };
import valid from '../vectors/typeid-valid.json' with { type: 'json' };

const users = typeIds('user');

/** The prefix of a text, as far as it has the form of one. */
const prefixIn = (text: string) => text.slice(0, Math.max(0, text.lastIndexOf('_')));

describe('the specification 0.3', () => {
  it.each(valid)('reads and writes the valid id "$name"', ({ typeid, prefix, uuid }) => {
    const ids = typeIds(prefix);
    expect(ids.is(typeid)).toBe(true);
    expect(ids.parse(typeid)).toMatchObject({ prefix, uuid });
    expect(ids.toUuid(typeid)).toBe(uuid);
    expect(ids.fromUuid(uuid)).toBe(typeid);
  });

  it.each(invalid)('refuses the invalid id "$name": $description', ({ typeid }) => {
    // Neither any prefix that the text may have, nor none, nor another one makes an id of it.
    for (const prefix of new Set([prefixIn(typeid), '', 'prefix'])) {
      let ids: ReturnType<typeof typeIds>;
      try {
        ids = typeIds(prefix);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidOptionError);
        continue;
      }
      expect(ids.is(typeid)).toBe(false);
      expect(() => ids.parse(typeid)).toThrow(InvalidIdError);
      expect(() => ids.toUuid(typeid)).toThrow(InvalidIdError);
    }
  });
});

describe('next()', () => {
  it('gives the prefix and a new UUID of version 7', () => {
    const before = Date.now();
    const id = users.next();
    expect(id).toMatch(/^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    const { prefix, uuid, time } = users.parse(id);
    expect(prefix).toBe('user');
    expect(uuid7.timeOf(uuid)).toEqual(time);
    expect(time?.getTime()).toBeGreaterThanOrEqual(before);
    expectTypeOf(id).toEqualTypeOf<`user_${string}`>();
  });

  it('increases strictly, whichever object and prefix asks', () => {
    const [orders, others] = [typeIds('order'), typeIds('user')];
    let last = '';
    for (let i = 0; i < 100_000; i++) {
      const suffix = [users, orders, others][i % 3]?.next().slice(-26) as string;
      if (suffix <= last) expect.fail(`${suffix} does not come after ${last}`);
      last = suffix;
    }
  });

  it('gives the bare suffix for an empty prefix', () => {
    const bare = typeIds('');
    const id = bare.next();
    expect(id).toHaveLength(26);
    expect(bare.is(id)).toBe(true);
    expectTypeOf(id).toEqualTypeOf<string>();
  });
});

describe('other ids', () => {
  it('keeps every UUID, of any version and case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
        const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
        const id = users.fromUuid(uuid.toUpperCase());
        expect(users.toUuid(id)).toBe(uuid);
      }),
    );
  });

  it('has no time for a UUID of another version', () => {
    const id = users.fromUuid('0110c853-1d09-42d8-973e-1194e95b5f19');
    expect(users.parse(id).time).toBeUndefined();
  });

  it('is ordered as its UUIDs are, with bounds for a millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
        const id = users.fromUuid(uuid7.at(ms));
        expect(users.min(ms) <= id && id <= users.max(ms)).toBe(true);
        expect(users.parse(id).time?.getTime()).toBe(ms);
      }),
    );
  });

  it('is read by inspect()', () => {
    const [best] = inspect(users.next());
    expect(best).toMatchObject({ family: 'typeid', fields: { prefix: 'user' } });
  });
});

describe('wrong input', () => {
  it('names the text and the form that it must have', () => {
    expect(() => users.parse('order_01h455vb4pex5vsknk084sn02q')).toThrow(
      '"order_01h455vb4pex5vsknk084sn02q" is not a typed id: it must be user_… with 26 digits of base 32 in lower case',
    );
  });

  it.each([7, null, undefined, {}, 5n])('refuses %s', (wrong) => {
    expect(users.is(wrong)).toBe(false);
    expect(() => users.parse(wrong as string)).toThrow(InvalidIdError);
    expect(() => users.fromUuid(wrong as string)).toThrow(InvalidIdError);
    expect(() => typeIds(wrong as string)).toThrow(InvalidOptionError);
  });

  it.each(['User', 'user1', '_user', 'user_', 'us-er', 'a'.repeat(64), ' '])(
    'refuses the prefix "%s"',
    (prefix) => {
      expect(() => typeIds(prefix)).toThrow(/prefix must be 0 to 63 letters/);
    },
  );

  it('refuses a wrong time as uuid7 does', () => {
    expect(() => users.min(Number.NaN)).toThrow(InvalidOptionError);
  });
});
