import { describe, expect, it } from 'vitest';
import { simulateMany } from '../../../idsmith/test/simulation/outcome.ts';
import { simulateKeys } from '../simulation/index.ts';

/** Worlds that one test tries. Few, so that what is wrong everywhere is noticed early. */
const WORLDS = 3;

// test/simulation.test.ts tries more of them, and shows that they notice what is done wrong.
describe('Keys in a few simulated worlds', () => {
  const starts = Array.from({ length: 4 }, (_, i) => 1 + i * WORLDS);

  it.each(starts)('from seed %d on never repeat, and resume when faults end', async (first) => {
    const { failure, ids } = await simulateMany(simulateKeys, first, WORLDS);
    expect(failure).toBeUndefined();
    expect(ids).toBeGreaterThan(0);
  });
});
