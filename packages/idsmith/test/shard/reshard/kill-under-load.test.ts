import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { entriesOf, type Shards, startShards } from '../start-shards.ts';
import { reshardUnderLoad } from './kill-under-load.ts';

await describeWith(['redis'], 'Resharding from four nodes to six while applications go on', () => {
  let shards: Shards;

  beforeAll(async () => {
    shards = await startShards([1, 1, 1, 1, 1, 1]);
  });
  afterAll(() => shards?.stop());

  it('killed with -9 at twenty moments loses no key, doubles none, and lets no read miss one', async () => {
    const { servers, config } = shards;
    const outcome = await reshardUnderLoad({
      from: { ...config, shards: entriesOf(servers.slice(0, 4), [1, 2, 1, 3]) },
      to: { ...config, shards: entriesOf(servers, [3, 1, 2, 2, 4, 1]) },
      keys: 20_000,
      kills: 20,
      longest: 250,
      workers: 2,
      rate: 800,
    });
    expect(outcome.problems).toEqual([]);
    expect(outcome.killed).toBe(20);
    // Some was left to the last run, and not all of it.
    expect(outcome.report.moved).toBeGreaterThan(0);
    expect(outcome.report.moved).toBeLessThan(11_000);
    expect(outcome.reads).toBeGreaterThan(1000);
    expect(outcome.writes).toBeGreaterThan(500);
    expect(outcome.minted).toBeGreaterThan(50);
  }, 240_000);
});
