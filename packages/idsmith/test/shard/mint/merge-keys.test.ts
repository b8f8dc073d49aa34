import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeKeys } from '../../../src/shard/keys/codec.ts';
import { type KeyBatch, lastMsOf, mergeKeys } from '../../../src/shard/mint/merge-keys.ts';
import { FRESH_VARIANTS, UNSURE_VARIANTS, widthOf } from '../../../src/shard/mint/variants.ts';

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
        const span = isSure ? FRESH_VARIANTS : UNSURE_VARIANTS;
        const ms = (next.get(index) ?? BASE - (BASE % nodes) + index) + gap * nodes;
        const variant = span.first + ((count * 7) % widthOf(span));
        const batch = { keys: writeKeys(ms, variant, nodes, span, count, '02'), ms, variant, span };
        next.set(index, lastMsOf(batch, nodes) + nodes);
        return batch;
      }),
    };
  });

it('Keys of several nodes are merged in ascending order, none lost and none doubled', () => {
  fc.assert(
    fc.property(batches, ({ nodes, made }) => {
      const all = made.flatMap(({ keys }) => keys);
      expect(mergeKeys(made, nodes)).toEqual([...all].sort());
    }),
    { numRuns: 60 },
  );
});
