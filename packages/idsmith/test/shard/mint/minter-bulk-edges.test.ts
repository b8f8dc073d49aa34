import { describe, expect, it } from 'vitest';
import { inTime, isAscending, simulateMinters } from './minter-world.ts';

const current = simulateMinters();

describe('A minter that is asked for many keys', () => {
  it('asks one node for as many keys as it has at once, and several for more', async () => {
    const capacity = Math.floor(1000 / 64) * 1612;
    const minter = await current.world.readyMinter(64);
    await inTime(minter.mint(2, capacity));
    expect(
      current.world
        .askedFor()
        .slice(0, 1)
        .map(([, count]) => count),
    ).toEqual([capacity]);
    const more = await current.world.readyMinter(64);
    const keys = await inTime(more.mint(2, capacity + 1));
    expect(current.world.askedFor().map(([, count]) => count)).toEqual([capacity / 2 + 1, capacity / 2]);
    expect(new Set(keys).size).toBe(capacity + 1);
    expect(isAscending(keys)).toBe(true);
  });

  it('waits for the clock once its lead is used up, and gives the rest then', async () => {
    const minter = await current.world.readyMinter(1);
    const [count, began] = [1001 * 1612 + 1, performance.now()];
    const keys = await inTime(minter.mint(2, count));
    expect(keys).toHaveLength(count);
    expect(isAscending(keys)).toBe(true);
    expect(performance.now() - began).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(100);
  });
});
