import fc from 'fast-check';
import type { LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { judgeSwap, type Swap, type SwapContext } from '../../src/leases/swap-policy.ts';

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
const context = fc.record<SwapContext>({
  now: fc.constant(NOW),
  maxTtl: fc.constantFrom(undefined, 500, 60_000),
  namespaceTtl: fc.constantFrom(undefined, 2000, 90_000),
  floor: fc.option(time, { nil: undefined }),
});

/** The record that the policy allows to be written, if any. */
function put(swap: Swap, given: SwapContext): LeaseRecord | undefined {
  const verdict = judgeSwap(swap, given);
  return verdict !== 'taken' && 'put' in verdict ? verdict.put : undefined;
}

describe('The policy of swaps allows', () => {
  it('of strangers: claims of what is free or has expired, and no lower fence', () => {
    fc.assert(
      fc.property(record, record, context, (stored, next, given) => {
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
      fc.property(record, record, context, (stored, next, given) => {
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
        context,
        fc.boolean(),
        (stored, next, given, is) => {
          const result = put({ stored, next, isHolder: is }, given);
          if (result === undefined) return;
          const longest = Math.min(
            given.maxTtl ?? 86_400_000,
            given.namespaceTtl ?? Number.POSITIVE_INFINITY,
          );
          const limit = NOW + Math.max(1000, longest);
          expect(result.fence).toBeLessThanOrEqual(Math.max(limit, stored?.fence ?? 0));
        },
      ),
      RUNS,
    );
  });
});
