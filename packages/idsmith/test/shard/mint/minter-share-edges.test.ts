import { describe, expect, it, vi } from 'vitest';
import { inTime, MINTING, msOf, NOW, simulateMinters } from './minter-world.ts';

const current = simulateMinters();

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

describe('A node that has failed', () => {
  it('gets no calls after a question whether it is back, if it is not', async () => {
    const minter = await current.world.readyMinter(2);
    const { nodes, failures } = current.world;
    nodes.silent.add(0);
    while (failures.length === 0) await inTime(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(1000);
    await inTime(minter.mint(2, 1));
    expect(failures).toHaveLength(2);
    nodes.operations();
    for (let i = 0; i < 6; i++) {
      await vi.advanceTimersByTimeAsync(1);
      await inTime(minter.mint(2, 1));
    }
    expect(nodes.operations()).toEqual(Array(6).fill(`1 ${MINTING}`));
  });
});
