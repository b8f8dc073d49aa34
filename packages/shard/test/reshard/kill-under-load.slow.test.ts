import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { reshardUnderLoad } from '../../../verify/src/runs/reshard/kill-under-load.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'Resharding from four nodes to six while applications go on', () => {
  let shards: Shards;

  beforeAll(async () => {
    shards = await startShards([1, 1, 1, 1, 1, 1]);
  });
  afterAll(() => shards?.stop());

  it('killed with -9 at seven moments loses no key, doubles none, and lets no read miss one', async () => {
    const { servers, config } = shards;
    const outcome = await reshardUnderLoad({
      from: { ...config, ...ringOf(servers.slice(0, 4), [1, 2, 1, 3]) },
      to: { ...config, ...ringOf(servers, [3, 1, 2, 2, 4, 1]) },
      keys: 4000,
      kills: 7,
      longest: 250,
      workers: 2,
      rate: 50,
    });
    expect(outcome.problems).toEqual([]);
    expect(outcome.killed).toBe(7);
    // Some was left to the last run, and not all of it: of the sample keys, and of those that were minted before it began.
    expect(outcome.report.moved).toBeGreaterThan(0);
    expect(outcome.report.moved).toBeLessThan(outcome.leaving + outcome.minted);
    expect(outcome.reads).toBeGreaterThan(200);
    expect(outcome.writes).toBeGreaterThan(100);
    expect(outcome.minted).toBeGreaterThan(20);
  }, 400_000);
});
