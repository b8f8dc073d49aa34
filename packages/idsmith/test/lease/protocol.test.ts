import type { LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import {
  candidates,
  claimed,
  NAMESPACE_ID,
  released,
  renewed,
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
      ...{ id: 0, owner: 'b', label: 'me', epoch: 4 },
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
