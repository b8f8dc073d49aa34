import fc from 'fast-check';
import type { LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { Floors } from '../../src/leases/fence-floors.ts';
import { judge, type Swap, type Terms } from '../../src/leases/swap-policy.ts';

const NOW = 1_800_000_000_000;
const RUNS = { numRuns: 5000 };

const time = fc.oneof(
  fc.integer({ min: -3, max: 3 }).map((ms) => NOW + ms),
  fc.integer({ min: -90_000, max: 90_000 }).map((ms) => NOW + ms),
  fc.integer({ min: -1, max: 1 }).map((ms) => NOW + 1000 + ms),
  fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER),
);
const record = fc.record<LeaseRecord>({
  id: fc.constant(0),
  owner: fc.constantFrom(null, 'a', 'b'),
  epoch: fc.integer({ min: 0, max: 3 }),
  fence: time,
  expiresAt: time,
  label: fc.constant(''),
});
const terms = fc.record<Terms>({
  now: fc.constant(NOW),
  maxTtl: fc.constantFrom(undefined, 500, 60_000),
  floor: fc.option(time, { nil: undefined }),
});

/** The record that the judge lets be put, if it does. */
function put(swap: Swap, given: Terms): LeaseRecord | undefined {
  const verdict = judge(swap, given);
  return verdict !== 'taken' && 'put' in verdict ? verdict.put : undefined;
}

describe('What the judge lets through', () => {
  it('of strangers: claims of what is free or has expired, and no lower fence', () => {
    fc.assert(
      fc.property(record, record, terms, (stored, next, given) => {
        const result = put({ stored, next, isHolder: false }, given);
        if (result === undefined) return;
        expect(stored.owner === null || stored.expiresAt <= NOW).toBe(true);
        expect(result.owner).not.toBeNull();
        expect(result.epoch).toBe(stored.epoch + 1);
        expect(result.fence).toBeGreaterThanOrEqual(stored.fence);
      }),
      RUNS,
    );
  });

  it('of holders: no lower fence but on release, and then none below what others may have minted', () => {
    fc.assert(
      fc.property(record, record, terms, (stored, next, given) => {
        const result = put({ stored: { ...stored, owner: 'a' }, next, isHolder: true }, given);
        if (result === undefined) return;
        const lowest =
          result.owner === null ? Math.min(stored.fence, given.floor ?? NOW + 1000) : stored.fence;
        expect(result.fence).toBeGreaterThanOrEqual(lowest);
        expect(result.epoch).toBeGreaterThanOrEqual(stored.epoch);
      }),
      RUNS,
    );
  });

  it('of anybody: nothing further ahead than the longest ttl, unless it was there before', () => {
    fc.assert(
      fc.property(
        fc.option(record, { nil: undefined }),
        record,
        terms,
        fc.boolean(),
        (stored, next, given, is) => {
          const result = put({ stored, next, isHolder: is }, given);
          if (result === undefined) return;
          const limit = NOW + Math.max(1000, given.maxTtl ?? 86_400_000);
          expect(result.fence).toBeLessThanOrEqual(Math.max(limit, stored?.fence ?? 0));
        },
      ),
      RUNS,
    );
  });
});

describe('Floors', () => {
  const free: LeaseRecord = { id: 0, owner: null, epoch: 4, fence: NOW, expiresAt: 0, label: '' };
  const mine = { ...free, owner: 'a', epoch: 5, fence: NOW + 9, expiresAt: NOW + 9 };
  const later = { ...mine, owner: 'a2', fence: NOW + 20, expiresAt: NOW + 20 };

  it('are where the fence was before the holder came, through all its renewals', () => {
    const floors = new Floors();
    floors.note('x', free, mine);
    floors.note('x', mine, later);
    expect(floors.of('x', later)).toBe(NOW);
    expect(floors.of('x', mine)).toBeUndefined();
    expect(floors.of('y', later)).toBeUndefined();
    floors.note('x', later, { ...later, owner: null });
    expect(floors.of('x', later)).toBeUndefined();
  });

  it('are not known of a holder who came, or renewed, elsewhere', () => {
    const floors = new Floors();
    floors.note('x', mine, later);
    expect(floors.of('x', later)).toBeUndefined();
    floors.note('x', free, mine);
    expect(floors.of('x', later)).toBeUndefined();
  });

  it('are forgotten, the oldest first, when there are too many', () => {
    const floors = new Floors();
    for (let id = 0; id <= 10_000; id++) floors.note('x', undefined, { ...mine, id, epoch: 1 });
    expect(floors.of('x', { ...mine, id: 0, epoch: 1 })).toBeUndefined();
    expect(floors.of('x', { ...mine, id: 1, epoch: 1 })).toBe(0);
  });
});
