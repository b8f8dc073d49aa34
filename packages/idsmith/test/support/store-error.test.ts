import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { redact, storeError } from '../../src/support/store-error.ts';

describe('redaction', () => {
  it('hides the credentials of URLs and the given secrets', () => {
    expect(redact('no postgres://app:pass@db/x and redis://:s@y')).toBe(
      'no postgres://***@db/x and redis://***@y',
    );
    expect(redact('no mysql://app:p@ss@db/x')).toBe('no mysql://***@db/x');
    expect(redact('AUTH hunter2 failed for hunter2', 'hunter2', undefined, '')).toBe(
      'AUTH *** failed for ***',
    );
  });

  it('is part of every store error, which keeps the cause', () => {
    const cause = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    expect(storeError('x store: listing', cause)).toMatchObject({
      message: 'x store: listing failed: ECONNREFUSED',
      cause,
    });
    const refused = (address: string) => new Error(`connect ECONNREFUSED ${address}`);
    const every = new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]);
    expect(storeError('x', every).message).toBe(
      'x failed: connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
    );
    const own = new StoreError('ours');
    expect(storeError('x', own)).toBe(own);
    expect(storeError('x', new Error('at mysql://a:b@c')).message).toBe('x failed: at mysql://***@c');
  });
});
