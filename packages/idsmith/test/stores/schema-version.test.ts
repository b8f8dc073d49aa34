import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import {
  decodeSchema,
  encodeSchema,
  SCHEMA,
  SchemaGate,
  type SchemaMarker,
  type SchemaVersion,
} from '../../src/stores/schema-version.ts';

/** A marker in memory that counts what is asked of it. */
function markerOf(schema?: SchemaVersion) {
  const asked: string[] = [];
  const state = { schema, failure: undefined as Error | undefined };
  const marker: SchemaMarker = {
    async read() {
      asked.push('read');
      if (state.failure) throw state.failure;
      return state.schema;
    },
    async write(written) {
      asked.push('write');
      if (state.failure) throw state.failure;
      state.schema ??= written;
    },
    isForbidden: (error) => (error as Error).message === 'forbidden',
  };
  return { asked, state, gate: new SchemaGate('test', marker) };
}

describe('The check of a schema', () => {
  it('reads a marker once, however many ask', async () => {
    const { asked, gate } = markerOf({ version: 1, leastReader: 1 });
    await Promise.all([gate.admit(), gate.admit(), gate.mark(), gate.mark()]);
    await gate.admit();
    expect(asked).toEqual(['read']);
  });

  it('marks a store without a marker once, and looks who was quicker', async () => {
    const { asked, state, gate } = markerOf();
    expect(await gate.admit()).toEqual({ version: 1, leastReader: 1 });
    expect(state.schema).toBeUndefined();
    await Promise.all([gate.mark(), gate.mark()]);
    await gate.mark();
    expect(asked).toEqual(['read', 'write', 'read']);
    expect(state.schema).toEqual(SCHEMA);
  });

  it('refuses a store that a later library has marked after the first look', async () => {
    const { state, gate } = markerOf();
    await gate.admit();
    state.schema = { version: 3, leastReader: 2 };
    await expect(gate.mark()).rejects.toMatchObject({ code: 'STORE', reason: 'NEWER_SCHEMA' });
    await expect(gate.mark()).rejects.toThrow('schema version 3');
  });

  it('takes a later version that lets this one read', async () => {
    const { gate } = markerOf({ version: 7, leastReader: SCHEMA.version });
    expect(await gate.admit()).toEqual({ version: 7, leastReader: 1 });
  });

  it('asks again after a failure', async () => {
    const { state, gate } = markerOf({ version: 1, leastReader: 1 });
    state.failure = new Error('away');
    await expect(gate.admit()).rejects.toThrow('away');
    await expect(gate.mark()).rejects.toThrow('away');
    state.failure = undefined;
    expect(await gate.admit()).toEqual({ version: 1, leastReader: 1 });
  });

  it('lets a user go on who may neither read nor write the marker', async () => {
    const { state, gate } = markerOf();
    state.failure = new Error('forbidden');
    expect(await gate.admit()).toEqual({ version: 1, leastReader: 1 });
    await gate.mark();
  });
});

describe('The text of a schema version', () => {
  it('comes back, also with fields of later libraries', () => {
    expect(decodeSchema(encodeSchema({ version: 3, leastReader: 2 }))).toEqual({
      version: 3,
      leastReader: 2,
    });
    expect(decodeSchema('{"version":3,"leastReader":2,"more":[]}')).toEqual({ version: 3, leastReader: 2 });
  });

  it.each([
    '',
    'null',
    '{}',
    '{"version":1}',
    '{"version":0,"leastReader":1}',
    '{"version":1.5,"leastReader":1}',
  ])('is refused where it is %s', (text) => {
    expect(() => decodeSchema(text)).toThrow(StoreError);
    expect(() => decodeSchema(text)).toThrow(/cannot read: upgrade idsmith/);
  });
});
