import type { SequenceStore } from '../sequence/port.js';
import { type ConformanceCase, type ConformanceOptions, namesOf } from './conformance.js';
import { changeCases } from './sequence-change-cases.js';
import { definitionCases } from './sequence-definition-cases.js';

/**
 * The behaviours that every sequence store must have.
 *
 * Each case defines a sequence of its own and removes it. So the cases may run on one store, in any order and at the same
 * time.
 *
 * @param open returns the store under test; called once for each case, and may return the same store each time
 *
 * @example
 * for (const { name, run } of sequenceStoreCases(() => myStore)) it(name, run);
 */
export function sequenceStoreCases(
  open: () => Promise<SequenceStore> | SequenceStore,
  options: ConformanceOptions = {},
): ConformanceCase[] {
  const nextName = namesOf(options);
  return [...definitionCases, ...changeCases].map(([name, check]) => ({
    name,
    run: async () => {
      const store = await open();
      const sequence = nextName();
      await check(store, sequence);
      // Some cases have removed their sequence.
      await store.removeSequence(sequence).catch(() => {});
    },
  }));
}
