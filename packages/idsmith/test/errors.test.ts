import { readFileSync } from 'node:fs';
import * as idsmith from 'idsmith';
import { IdError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../src/errors.ts';
import { storeError, storeReason, storeReasons } from '../src/support/store-error.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const documented = Array.from(page.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm), ([, name, code]) => ({
  name,
  code,
}));
const documentedReasons = Array.from(page.matchAll(/^\| `([A-Z_]+)` \|/gm), ([, reason]) => reason);

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

describe('the reasons of a StoreError', () => {
  it('are what docs/errors.md shows, in the same order', () => {
    expect(documentedReasons).toEqual(Object.keys(storeReasons));
  });

  it.each([
    ['ACCESS_DENIED', { code: '28P01' }],
    ['ACCESS_DENIED', { message: 'NOAUTH Authentication required.' }],
    ['ACCESS_DENIED', { name: 'AccessDeniedException' }],
    ['ACCESS_DENIED', { errno: 1045 }],
    ['NOT_FOUND', { code: '3D000' }],
    ['NOT_FOUND', { code: 'ERR_SQLITE_ERROR', errcode: 14 }],
    ['UNREACHABLE', { code: 'ECONNREFUSED' }],
    ['UNREACHABLE', { code: '57P01' }],
    ['UNAVAILABLE', { message: 'LOADING Redis is loading the dataset in memory' }],
    ['UNAVAILABLE', { message: 'HTTP 503: etcdserver: no leader' }],
    ['TIMEOUT', { name: 'TimeoutError' }],
    ['TIMEOUT', { errno: 1969 }],
    ['NO_CONNECTION', { code: '53300' }],
    ['READ_ONLY', { message: "READONLY You can't write against a read only replica." }],
    ['NO_SPACE', { message: "OOM command not allowed when used memory > 'maxmemory'." }],
    ['LOCKED', { code: 'SQLITE_BUSY_SNAPSHOT' }],
    ['LOCKED', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
    ['LOCKED', { rawCode: 5 }],
    ['CONFLICT', { code: '40001' }],
    ['TRANSACTION_FAILED', { code: '25P02' }],
    ['UNREADABLE', { code: 'SQLITE_NOTADB' }],
  ])('are %s for %o of a driver, also inside the error of an ORM', (reason, error) => {
    expect(storeReason(error)).toBe(reason);
    expect(storeError('a query', { message: 'Failed query', cause: error })).toMatchObject({
      code: 'STORE',
      reason,
    });
  });

  it('are undefined for errors that tell no known cause, and for errors that wrap themselves', () => {
    const round: { cause?: unknown } = {};
    round.cause = round;
    for (const error of [undefined, null, 'ECONNREFUSED', {}, { errno: -2 }, new Error('1045 rows'), round])
      expect(storeReason(error), String(error)).toBeUndefined();
  });
});
