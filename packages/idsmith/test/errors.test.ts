import { readFileSync } from 'node:fs';
import * as idsmith from 'idsmith';
import { IdError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../src/errors.ts';

const documented = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => /^\| `(\w+)` \| `(\w+)` \|/.exec(line))
  .filter((row) => row !== null)
  .map(([, name, code]) => ({ name, code }));

const exported = Object.values(idsmith).filter(
  (value): value is typeof StoreError => typeof value === 'function' && value.prototype instanceof IdError,
);

describe('the error table', () => {
  it('holds every exported error class, once', () => {
    expect(errorTable.map((entry) => entry.class)).toHaveLength(exported.length);
    expect(new Set(errorTable.map((entry) => entry.class))).toEqual(new Set(exported));
  });

  it('gives each class the code that its instances carry', () => {
    for (const { class: ErrorClass, code } of errorTable) {
      expect(new ErrorClass('x')).toMatchObject({ code, name: ErrorClass.name, message: 'x' });
    }
  });

  it('is what docs/errors.md shows, in the same order', () => {
    expect(documented).toEqual(errorTable.map((entry) => ({ name: entry.class.name, code: entry.code })));
  });
});

describe('an IdError', () => {
  it('is an Error that carries its cause', () => {
    const cause = new Error('connection refused');
    const error = new StoreError('the store at redis://127.0.0.1 did not answer', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(IdError);
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain('StoreError: the store at');
  });

  it('has no cause when none was given', () => {
    expect('cause' in new StoreError('x')).toBe(false);
  });
});
