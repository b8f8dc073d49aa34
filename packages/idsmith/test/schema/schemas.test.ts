import fc from 'fast-check';
import { FlakeGenerator, LocalityGenerator, layouts, Uuid7Generator } from 'idsmith';
import {
  flakeSchema,
  keySchema,
  localitySchema,
  type StandardSchema,
  sequenceSchema,
  typeIdSchema,
  uuid7Schema,
} from 'idsmith/schema';
import { typeIds } from 'idsmith/typeid';
import { describe, expect, expectTypeOf, it } from 'vitest';
import invalidTypeIds from '../vectors/typeid-invalid.json' with { type: 'json' };
import validTypeIds from '../vectors/typeid-valid.json' with { type: 'json' };

const UUID7 = new Uuid7Generator().next();
const LOCALITY = new LocalityGenerator().next();
const STANDARD = new LocalityGenerator({ format: 'rfc9562' }).next();
const FLAKE = new FlakeGenerator({ node: 3 }).next();
const KEY = '1jyVFw3401';
const TYPED = typeIds('user').next();

/** The value that a schema gives, or `undefined` if it has issues. */
function check(schema: StandardSchema<unknown, unknown>, value: unknown): unknown {
  const result = schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  expect(result.issues).toEqual([{ message: expect.any(String) }]);
  return undefined;
}

const everySchema: [string, StandardSchema<unknown, unknown>, string, unknown][] = [
  ['flake', flakeSchema(), String(FLAKE), FLAKE],
  ['flake with a layout', flakeSchema({ layout: layouts.jflake }), String(FLAKE), FLAKE],
  ['sequence', sequenceSchema(), '-10001', -10001n],
  ['locality', localitySchema(), LOCALITY.toUpperCase(), LOCALITY],
  ['locality, rfc9562', localitySchema({ format: 'rfc9562' }), STANDARD, STANDARD],
  ['uuid7', uuid7Schema(), UUID7.toUpperCase(), UUID7],
  ['key', keySchema(), KEY, KEY],
  ['typed id', typeIdSchema('user'), TYPED, TYPED],
];

describe.each(everySchema)('the schema of a %s', (_name, schema, text, value) => {
  it('is a Standard Schema of version 1, and accepts its ids', () => {
    expect(schema['~standard']).toMatchObject({ version: 1, vendor: 'idsmith' });
    expect(check(schema, text)).toEqual(value);
  });

  it('never throws, and refuses what is no text or number', () => {
    const others = fc.anything().filter((other) => typeof other !== 'string' && typeof other !== 'bigint');
    fc.assert(fc.property(others, (other) => void expect(check(schema, other)).toBeUndefined()));
    fc.assert(fc.property(fc.string(), (other) => void check(schema, other)));
    for (const other of [` ${text}`, `${text}\n`, '', '9'.repeat(100_000)])
      expect(check(schema, other)).toBeUndefined();
  });
});

describe('the schema of typed ids', () => {
  it.each(validTypeIds)('accepts the valid id "$name" of the specification', ({ typeid, prefix }) => {
    expect(check(typeIdSchema(prefix), typeid)).toBe(typeid);
    expect(check(typeIdSchema('another'), typeid)).toBeUndefined();
  });

  it.each(invalidTypeIds)('refuses the invalid id "$name" of the specification', ({ typeid }) => {
    for (const prefix of ['', 'prefix', 'pre_fix'])
      expect(check(typeIdSchema(prefix), typeid)).toBeUndefined();
  });

  it('has the type of its texts, and refuses a prefix that is none', () => {
    expectTypeOf(typeIdSchema('user')).toEqualTypeOf<StandardSchema<string, `user_${string}`>>();
    expect(() => typeIdSchema('User')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});

describe('schemas', () => {
  it('tell the families apart', () => {
    const uuids = [LOCALITY, STANDARD, UUID7, crypto.randomUUID()];
    const accepted = (schema: StandardSchema<unknown, unknown>) =>
      uuids.map((id) => check(schema, id) !== undefined);
    expect(accepted(localitySchema())).toEqual([true, false, false, false]);
    expect(accepted(localitySchema({ format: 'rfc9562' }))).toEqual([false, true, false, false]);
    expect(accepted(uuid7Schema())).toEqual([false, false, true, false]);
    // Version 7 with another variant is not a standard UUID.
    expect(check(uuid7Schema(), `${UUID7.slice(0, 19)}c${UUID7.slice(20)}`)).toBeUndefined();
  });

  it('keep numbers in their range', () => {
    expect([check(flakeSchema(), -1n), check(flakeSchema(), 2n ** 64n)]).toEqual([undefined, undefined]);
    expect(check(flakeSchema(), 2n ** 64n - 1n)).toBe(2n ** 64n - 1n);
    expect(check(flakeSchema({ layout: layouts.safe53 }), 2n ** 60n)).toBeUndefined();
    expect(check(sequenceSchema(), 2n ** 63n)).toBeUndefined();
    const few = sequenceSchema({ min: 1n, max: 5n });
    expect([0n, 1n, 5n, 6n, 5].map((id) => check(few, id))).toEqual([
      undefined,
      1n,
      5n,
      undefined,
      undefined,
    ]);
    expectTypeOf(few).toEqualTypeOf<StandardSchema<bigint | string, bigint>>();
  });

  it('refuse options that are wrong', () => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
    expect(() => flakeSchema({ layout: {} as never })).toThrow(refused);
    expect(() => flakeSchema({ layuot: layouts.jflake } as never)).toThrow(refused);
    expect(() => sequenceSchema({ min: 1 as never })).toThrow(refused);
    expect(() => localitySchema({ format: 'x' as never })).toThrow(refused);
    expect(() => keySchema({ epoch: -1 })).toThrow(refused);
  });
});
