import type { LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { sameRecord } from '../../src/lease/port.ts';
import {
  anyReady,
  candidates,
  claimed,
  datedBirth,
  isReady,
  isUndated,
  layoutOf,
  layoutRecord,
  newestFence,
  undatedBirth,
} from '../../src/lease/protocol.ts';

const NOW = 1_000_000;
const free = (id: number, fence: number): LeaseRecord => ({
  ...{ id, owner: null, epoch: 3, fence, expiresAt: 0, label: 'host' },
});

describe('the records of a namespace itself', () => {
  it('are written with every field that others compare', () => {
    const layout = { id: -2, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: 'j' };
    const birth = { id: -1, owner: 'x', epoch: 0, fence: Number.MAX_SAFE_INTEGER, expiresAt: 0 };
    expect(layoutRecord('j')).toEqual(layout);
    expect(undatedBirth('x')).toEqual({ ...birth, label: 'namespace' });
    expect(layoutOf([undatedBirth('x'), free(0, 0)])).toBeUndefined();
    expect(layoutOf([undatedBirth('x'), layoutRecord('j')])).toBe('j');
  });

  it('get a date beyond every window of before: the longest ttl, the way of the message, and the skew twice', () => {
    const birth = undatedBirth('x');
    const dated = datedBirth(birth, NOW, 60_000, 70, 1000);
    expect(dated).toEqual({ ...birth, epoch: 60_000, fence: NOW + 60_000 + 1000 + 140 });
    expect(datedBirth(birth, NOW, 60_000, 70).fence).toBe(NOW + 60_000 + 140);
    expect([isUndated(birth), isUndated(dated)]).toEqual([true, false]);
  });

  it('do not count for the newest fence, which is that of a node id', () => {
    expect(newestFence([])).toBe(-Infinity);
    expect(newestFence([undatedBirth('x'), layoutRecord('j')])).toBe(-Infinity);
    expect(newestFence([undatedBirth('x'), free(1, 5), free(0, 9), free(2, 7)])).toBe(9);
    expect(newestFence([layoutRecord('j'), free(1, -5)])).toBe(-5);
  });
});

describe('the edges of a choice', () => {
  it('need no wait up to a second before the fence, and not a millisecond more', () => {
    const at = (readyAt: number) => isReady({ id: 0, record: undefined, readyAt }, NOW);
    expect([at(NOW + 1000), at(NOW + 1001)]).toEqual([true, false]);
  });

  it('are the first and the last id of the range, and 256 ids that were never used', () => {
    const records = [free(3, 0), free(4, 0), free(6, 0)];
    expect(candidates(records, 6, NOW, 4).map(({ id }) => id)).toEqual([4, 5]);
    expect(candidates([], 1000, NOW)).toHaveLength(256);
    expect(candidates([free(999, 0)], 1000, NOW)).toHaveLength(257);
  });

  it('hold for those with rivals, too', () => {
    const records = [free(3, 0), free(4, 0), free(6, 0)];
    const picked = [0, 0.49, 0.5, 0.99].map((fraction) => anyReady(records, 6, NOW, fraction, 4)?.id);
    expect(picked).toEqual([4, 4, 5, 5]);
    expect(anyReady([free(0, NOW + 1001)], 1, NOW, 0)).toBeUndefined();
    expect(anyReady([free(0, NOW + 1000)], 1, NOW, 0.5)).toMatchObject({ id: 0, readyAt: NOW + 1000 });
  });

  it('leave a fence where it is when a shorter window is claimed', () => {
    const claim = { owner: 'b', label: '', ttl: 100, maxSkew: 0 };
    const candidate = { id: 0, record: free(0, NOW + 900), readyAt: NOW + 900 };
    expect(claimed(candidate, NOW, claim)).toMatchObject({
      fence: NOW + 900,
      expiresAt: NOW + 900,
      epoch: 4,
    });
    expect(claimed({ id: 0, record: undefined, readyAt: 0 }, NOW, claim)).toMatchObject({
      ...{ fence: NOW + 100, epoch: 1 },
    });
  });
});

describe('two records', () => {
  const record: LeaseRecord = { id: 1, owner: 'a', epoch: 2, fence: 3, expiresAt: 4, label: 'x' };

  it('are the same whatever their labels', () => {
    expect(sameRecord(record, { ...record, label: 'y' })).toBe(true);
    expect(sameRecord(undefined, undefined)).toBe(true);
  });

  it.each([{ id: 9 }, { owner: 'b' }, { owner: null }, { epoch: 9 }, { fence: 9 }, { expiresAt: 9 }])(
    'differ by %o alone',
    (change) => {
      expect(sameRecord(record, { ...record, ...change })).toBe(false);
      expect(sameRecord(record, undefined)).toBe(false);
      expect(sameRecord(undefined, record)).toBe(false);
    },
  );
});
