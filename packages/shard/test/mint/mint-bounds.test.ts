import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FRESH_UNSURE_VARIANTS,
  FRESH_VARIANTS,
  HANDOVER_UNSURE_VARIANTS,
  HANDOVER_VARIANTS,
  widthOf,
} from '../../src/keys/variants.ts';
import { type MintingProof, mintBoundsOf } from '../../src/mint/mint-bounds.ts';
import { mintingProofOf } from '../../src/mint/node-sequence.ts';

const LEAD = 1000;
const SKEW = 50;

describe('What the other nodes confirm', () => {
  it('is everything for a node that is alone', () => {
    expect(mintBoundsOf([], LEAD)).toEqual({ after: 0, until: Number.MAX_SAFE_INTEGER });
  });

  it('is nothing while one of them is silent, whatever the others say', () => {
    expect(mintBoundsOf([{ from: 0, now: 5000 }, undefined], LEAD)).toBeUndefined();
  });

  it('ends a lead after the one that was heard of first, and begins after the one that began last', () => {
    const proofs = [
      { from: 10, now: 5000 },
      { from: 30, now: 4000 },
      { from: 20, now: 6000 },
    ];
    expect(mintBoundsOf(proofs, LEAD)).toEqual({ after: 30, until: 5000 });
  });

  it('never overlaps with what a node confirms to those who begin on it later', () => {
    const time = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(time, time, time, time, (began, seen, passed, later) => {
        // The common node has the sequence of the first ring, is seen with it, forgets, and is opened for the second one
        // by a clock that has gone back by no more than the skew.
        const first: MintingProof = { from: began, now: began + seen };
        const opened = Math.max(0, first.now + passed - SKEW);
        const second: MintingProof = { from: opened + LEAD + SKEW, now: opened + later };
        const [before, after] = [mintBoundsOf([first], LEAD)!, mintBoundsOf([second], LEAD)!];
        expect(before.until).toBeLessThanOrEqual(after.after);
      }),
    );
  });

  it.each([
    ['its sequence is missing', { whose: 'missing' }],
    ['it mints for others', { whose: 'foreign' }],
    ['it is not open yet', { state: 'pending' }],
    ['it was handed over', { state: 'closed' }],
    ['its sequence may be an old one', { lost: true }],
  ] as const)('is nothing when %s', (_, change) => {
    const status = {
      whose: 'own',
      state: 'open',
      fingerprint: 'r',
      next: '',
      nodes: 'a, b',
      generation: 1,
      high: 7,
      from: 5,
      lost: false,
      now: 9,
    } as const;
    expect(mintingProofOf(status)).toEqual({ from: 5, now: 9 });
    expect(mintingProofOf({ ...status, ...change })).toBeUndefined();
  });
});

describe('The variants', () => {
  it('of rings that began, that took over and that are not sure are different ones, and all there are', () => {
    const spans = [FRESH_VARIANTS, HANDOVER_VARIANTS, FRESH_UNSURE_VARIANTS, HANDOVER_UNSURE_VARIANTS];
    const all = spans.flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    );
    expect(all).toEqual(Array.from({ length: 3844 }, (_, i) => i));
    expect(spans.map(widthOf)).toEqual([1612, 1612, 310, 310]);
  });
});
