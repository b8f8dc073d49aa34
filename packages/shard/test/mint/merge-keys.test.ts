import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeKeys } from '../../src/keys/codec.ts';
import { FRESH_UNSURE_VARIANTS, FRESH_VARIANTS, widthOf } from '../../src/keys/variants.ts';
import { type KeyBatch, lastMsOf, mergeKeys } from '../../src/mint/mint-request.ts';

const BASE = 469_362_600_000;

/** Batches as nodes reserve them: each node continues behind its last key, in its own milliseconds. */
const batches = fc
  .record({
    nodes: fc.integer({ min: 1, max: 9 }),
    parts: fc.array(
      fc.record({
        node: fc.nat(8),
        gap: fc.nat(3),
        count: fc.integer({ min: 1, max: 4000 }),
        isSure: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ nodes, parts }) => {
    const next = new Map<number, number>();
    return {
      nodes,
      made: parts.map(({ node, gap, count, isSure }): KeyBatch => {
        const index = node % nodes;
        const span = isSure ? FRESH_VARIANTS : FRESH_UNSURE_VARIANTS;
        const ms = (next.get(index) ?? BASE - (BASE % nodes) + index) + gap * nodes;
        const variant = span.first + ((count * 7) % widthOf(span));
        const batch = { keys: writeKeys(ms, variant, nodes, span, count, '02'), ms, variant, span };
        next.set(index, lastMsOf(batch, nodes) + nodes);
        return batch;
      }),
    };
  });

describe('Batches of keys', () => {
  const SPAN = { first: 10, last: 13 };
  const SIZE = 3;
  const batchOf = (ms: number, variant: number, count: number): KeyBatch => {
    const keys = writeKeys(ms, variant, SIZE, SPAN, count, '02');
    return { keys, ms, variant, span: SPAN };
  };

  it('of several nodes are merged in ascending order, none lost and none doubled', () => {
    fc.assert(
      fc.property(batches, ({ nodes, made }) => {
        const all = made.flatMap(({ keys }) => keys);
        expect(mergeKeys(made, nodes)).toEqual([...all].sort());
      }),
      { numRuns: 60 },
    );
  });

  it('that are alone are given as they are', () => {
    const one = batchOf(900, 12, 5);
    expect(mergeKeys([one], SIZE)).toBe(one.keys);
    expect(mergeKeys([], SIZE)).toEqual([]);
  });

  it('of one millisecond are joined by their variants, and others by their milliseconds', () => {
    const made = [batchOf(903, 12, 4), batchOf(900, 13, 1), batchOf(901, 11, 9), batchOf(900, 10, 3)];
    expect(mergeKeys(made, SIZE)).toEqual(made.flatMap(({ keys }) => keys).sort());
  });

  it.each([
    [10, 1, 900],
    [10, 4, 900],
    [10, 5, 903],
    [13, 1, 900],
    [13, 2, 903],
    [13, 5, 903],
    [13, 6, 906],
  ])('from variant %d on with %d keys end in millisecond %d', (variant, count, last) => {
    expect(lastMsOf(batchOf(900, variant, count), SIZE)).toBe(last);
  });
});
