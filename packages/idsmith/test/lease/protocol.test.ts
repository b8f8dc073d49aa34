import type { LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { sameRecord } from '../../src/lease/port.ts';
import {
  anyReady,
  candidates,
  claimed,
  datedBirth,
  isOlder,
  isReady,
  isTakenEarly,
  isUndated,
  layoutOf,
  layoutRecord,
  NAMESPACE_ID,
  newestFence,
  released,
  renewed,
  undatedBirth,
  verdict,
  windowStart,
} from '../../src/lease/protocol.ts';

const NOW = 1_000_000;
const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 3, fence: NOW, expiresAt: NOW, label: 'host' };
const held = (id: number) => ({ ...RECORD, id, fence: NOW + 5000, expiresAt: NOW + 5000 });
const free = (id: number, fence: number) => ({ ...RECORD, id, owner: null, fence, expiresAt: 0 });
const idsOf = (records: LeaseRecord[], size: number) => candidates(records, size, NOW).map(({ id }) => id);

describe('choosing', () => {
  it('puts released and expired ids before never-used ones, the lowest first', () => {
    expect(idsOf([free(5, NOW - 1), { ...RECORD, id: 3 }, held(0)], 7)).toEqual([3, 5, 1, 2, 4, 6]);
  });

  it('puts ids whose fence lies ahead last, the soonest first', () => {
    expect(idsOf([free(0, NOW + 9000), free(1, NOW + 4000), free(2, NOW + 500)], 4)).toEqual([2, 3, 1, 0]);
  });

  it('takes an id for held until its expiry, and not a moment longer', () => {
    expect(idsOf([{ ...RECORD, expiresAt: NOW + 1 }], 1)).toEqual([]);
    expect(idsOf([{ ...RECORD, expiresAt: NOW }], 1)).toEqual([0]);
  });

  it('leaves out ids beyond the size', () => {
    expect(idsOf([free(9, 0)], 2)).toEqual([0, 1]);
  });

  it('finds room in a range of billions at once', () => {
    expect(candidates([held(0), held(1)], 2 ** 32, NOW)[0]?.id).toBe(2);
  });

  it("lets no window begin before the namespace's own fence", () => {
    const birth = { ...RECORD, id: NAMESPACE_ID, fence: NOW + 70_000 };
    const all = candidates([birth, free(0, 5)], 2, NOW);
    expect(all.map(({ readyAt }) => readyAt)).toEqual([NOW + 70_000, NOW + 70_000]);
  });
});

describe('a window', () => {
  const claim = { owner: 'b', label: 'me', ttl: 30_000, maxSkew: 10_000 };

  it('begins at the fence, or as far back as a clock may be behind', () => {
    const [ahead] = candidates([free(0, NOW + 300)], 1, NOW);
    const [behind] = candidates([free(0, 5)], 1, NOW);
    expect(windowStart(ahead!, NOW, 10_000)).toBe(NOW + 300);
    expect(windowStart(behind!, NOW, 10_000)).toBe(NOW - 10_000);
  });

  it('is written with the next epoch, and its end as fence and expiry', () => {
    const [candidate] = candidates([free(0, 5)], 1, NOW);
    expect(claimed(candidate!, NOW, claim)).toEqual({
      id: 0,
      owner: 'b',
      label: 'me',
      epoch: 4,
      fence: NOW + 30_000,
      expiresAt: NOW + 30_000,
    });
  });

  it('is never made shorter by a renewal', () => {
    expect(renewed({ ...RECORD, fence: NOW + 99_000 }, NOW, 30_000, 'c').fence).toBe(NOW + 99_000);
    expect(renewed(RECORD, NOW, 30_000, 'c')).toMatchObject({
      owner: 'c',
      fence: NOW + 30_000,
      expiresAt: NOW + 30_000,
      epoch: 3,
    });
  });

  it('is left just above the last timestamp used, within its own bounds', () => {
    expect(released(RECORD, 10, 500)).toMatchObject({ owner: null, fence: 501, expiresAt: 0, epoch: 3 });
    expect(released(RECORD, 10, -1).fence).toBe(10);
    expect(released(RECORD, 10, NOW + 5).fence).toBe(RECORD.fence);
  });

  it.each([
    ['mine', 'the record that was known', RECORD],
    [
      'mine',
      'a renewal whose answer was lost',
      { ...RECORD, owner: 'a2', fence: NOW + 7, expiresAt: NOW + 7 },
    ],
    ['taken', 'that of a new holder', { ...RECORD, owner: 'b', epoch: 4 }],
    ['taken', 'what a new holder left', { ...RECORD, owner: null, epoch: 4, expiresAt: 0 }],
    ['broken', 'no record', undefined],
    ['broken', 'a renewal by a copy of this process', { ...RECORD, owner: 'a3', fence: NOW + 7 }],
    ['broken', 'a release by somebody else', { ...RECORD, owner: null, expiresAt: 0 }],
    ['broken', 'an older record', { ...RECORD, epoch: 2 }],
    [
      'broken',
      'a new holder whose fence is lower',
      { ...RECORD, owner: 'b', epoch: 4, fence: RECORD.fence - 1 },
    ],
  ] as const)('is %s when the store has %s', (expected, _, current) => {
    const attempt = { ...RECORD, owner: 'a2', fence: NOW + 7, expiresAt: NOW + 7 };
    expect(verdict(current, RECORD, [attempt])).toBe(expected);
  });
});

describe('a choice', () => {
  const birth = (fence: number): LeaseRecord => ({
    id: -1,
    owner: 'x',
    epoch: 1,
    fence,
    expiresAt: 0,
    label: '',
  });

  it('is possible at once where the namespace has no date', () => {
    expect(candidates([], 1, NOW)).toEqual([{ id: 0, record: undefined, readyAt: 0 }]);
    expect(anyReady([], 1, NOW, 0)).toEqual({ id: 0, record: undefined, readyAt: 0 });
  });

  it.each([0, 0.5, 0.99])('is none before the date of the namespace: fraction %s', (fraction) => {
    expect(anyReady([birth(NOW + 1001)], 4, NOW, fraction)).toBeUndefined();
    expect(anyReady([birth(NOW + 1000)], 4, NOW, fraction)).toMatchObject({ readyAt: NOW + 1000 });
  });
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
      fence: NOW + 100,
      epoch: 1,
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

describe('a record that shows a loss of the store', () => {
  const mine: LeaseRecord = { id: 3, owner: 'a', epoch: 5, fence: 100, expiresAt: 50, label: '' };

  it('is missing, or of an earlier term, or has an earlier fence', () => {
    expect(isOlder(undefined, mine)).toBe(true);
    expect(isOlder({ ...mine, epoch: 4 }, mine)).toBe(true);
    expect(isOlder({ ...mine, epoch: 4, fence: 200 }, mine)).toBe(true);
    expect(isOlder({ ...mine, epoch: 6, fence: 99 }, mine)).toBe(true);
  });

  it('is neither the same nor a later one', () => {
    expect(isOlder(mine, mine)).toBe(false);
    expect(isOlder({ ...mine, owner: 'b', epoch: 6, fence: 200 }, mine)).toBe(false);
  });
});

describe('isTakenEarly', () => {
  it.each([
    [true, 'cannot have run out', 10_999],
    [false, 'may have run out by another clock, or begin a second early', 11_000],
    [false, 'has run out', 30_000],
  ])('is %s when the lease %s', (isEarly, _, now) => {
    expect(isTakenEarly({ ...RECORD, expiresAt: 22_000 }, now, 10_000)).toBe(isEarly);
  });
});
