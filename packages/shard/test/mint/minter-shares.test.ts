import { describe, expect, it, vi } from 'vitest';
import { inTime, isAscending, msOf, NOW, simulateMinters } from './minter-world.ts';

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

describe('The share of each node', () => {
  it('is at least one millisecond of keys, however many nodes there are', async () => {
    const minter = await current.world.readyMinter(1001);
    expect(await inTime(minter.mint(2, 1613))).toHaveLength(1613);
    expect(current.world.askedFor().map(([, count]) => count)).toEqual([807, 806]);
  });

  it('is all keys, if there is one node', async () => {
    const minter = await current.world.readyMinter(1);
    const count = 1000 * 1612 + 1;
    expect(await inTime(minter.mint(2, count))).toHaveLength(count);
    expect(current.world.askedFor()[0]).toEqual([0, count]);
  });

  it('is all keys, if the other node has failed', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.silent.add(0);
    while (current.world.failures.length === 0) await inTime(minter.mint(2, 1));
    current.world.askedFor();
    const count = 500 * 1612 + 1;
    expect(await inTime(minter.mint(2, count))).toHaveLength(count);
    expect(current.world.askedFor()[0]).toEqual([1, count]);
  });
});

describe('A node that has too few keys', () => {
  it('makes the minter ask for new proofs before it asks for the rest, also if that comes in a millisecond', async () => {
    const minter = await current.world.readyMinter(2);
    const { nodes } = current.world;
    await vi.advanceTimersByTimeAsync(1);
    await inTime(minter.mint(2, 1));
    const until = NOW + performance.now() + 1000;
    await vi.advanceTimersByTimeAsync(100);
    nodes.operations();
    const count = 450 * 1612 + 1;
    const [rest, ...keys] = (await inTime(minter.mint(2, count))) as [string, ...string[]];
    // All keys of the node up to the end of the proofs. Its next millisecond would have been one later.
    expect([msOf(keys[0]!), msOf(keys.at(-1)!)]).toEqual([until - 899, until - 1]);
    expect(msOf(rest)).toBe(until - 900);
    const node = msOf(keys[0]!) % 2;
    expect(nodes.asked.map(({ number, args }) => [number, args[8]])).toEqual([
      [node, count],
      [node, undefined],
      [1 - node, 1],
    ]);
  });
});
