import { describe, expect, it, vi } from 'vitest';
import type { Minter } from '../../../src/shard/mint/minter.ts';
import { NodeSetConflictError } from '../../../src/shard/mint/node-set-conflict.ts';
import { inTime, msOf, NOW, simulateMinters } from './minter-world.ts';
import { errorOf } from './model-nodes.ts';

const current = simulateMinters();

/** The clocks of nodes tell whole milliseconds. */
const tellWholeMs = () => {
  current.world.nodes.elapsed = () => Math.floor(performance.now());
};

/** Mints a key every 10 ms until a node is the first one that is asked. @returns all nodes that were asked for that key */
async function mintAt(minter: Minter, node: number): Promise<number[]> {
  for (let i = 0; i < 20; i++) {
    await vi.advanceTimersByTimeAsync(10);
    current.world.askedFor();
    await inTime(minter.mint(2, 1));
    const asked = current.world.askedFor().map(([number]) => number);
    if (asked[0] === node) return asked;
  }
  throw new Error(`node ${node} is not asked`);
}

/** A minter whose second node is behind by more than the lead, at a time when the end of that lead is a millisecond of this node. */
async function withNodeBehind(): Promise<Minter> {
  const minter = await current.world.readyMinter(2);
  tellWholeMs();
  current.world.nodes.clocks[1] = NOW - 1500;
  const isOdd = performance.now() % 2 === 1;
  await vi.advanceTimersByTimeAsync(isOdd ? 1000 : 1001);
  return minter;
}

describe('In the middle of a millisecond, a minter', () => {
  it('asks the node of the next one', async () => {
    const minter = await current.world.readyMinter(3);
    tellWholeMs();
    let byClock = 0;
    for (let i = 0; i < 10; i++) {
      const [last] = await inTime(minter.mint(2, 1));
      await vi.advanceTimersByTimeAsync(0.5);
      current.world.askedFor();
      const next = Math.floor(NOW + performance.now()) + 1;
      if (next >= msOf(last!)) byClock++;
      await inTime(minter.mint(2, 1));
      expect(current.world.askedFor()[0]![0]).toBe(Math.max(next, msOf(last!)) % 3);
      await vi.advanceTimersByTimeAsync(0.5);
    }
    expect(byClock).toBeGreaterThan(3);
  });

  it('wakes up once, when a wait is over', async () => {
    const minter = current.world.minterOf(1);
    tellWholeMs();
    const calls = [minter.mint(2, 1)];
    await vi.advanceTimersByTimeAsync(5.5);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    calls.push(minter.mint(2, 1));
    expect((await inTime(Promise.all(calls))).flat()).toHaveLength(2);
    expect(timers).toHaveBeenCalledTimes(1);
  });

  it('asks a node that is behind for the last millisecond that the node has', async () => {
    const minter = await withNodeBehind();
    for (let i = 0; i < 3; i++) {
      await mintAt(minter, 1);
      await vi.advanceTimersByTimeAsync(0.5);
      expect(await mintAt(minter, 1)).toEqual([1]);
      await vi.advanceTimersByTimeAsync(1.5);
    }
  });
});

describe('A node whose clock is far behind', () => {
  it('mints at once, though others have minted later milliseconds', async () => {
    const minter = await withNodeBehind();
    for (let i = 0; i < 4; i++) {
      await mintAt(minter, 0);
      expect(await mintAt(minter, 1)).toEqual([1]);
    }
  });

  it('mints at once, also if it has not told its clock', async () => {
    await current.world.readyMinter(3);
    const { nodes } = current.world;
    nodes.clocks[1] = NOW + 2500;
    const minter = current.world.minterOn([0, 1, 2]);
    nodes.silent.add(0);
    const [ahead] = (await inTime(minter.mint(2, 1))) as [string];
    nodes.silent.add(1);
    const [behind] = (await inTime(minter.mint(2, 1))) as [string];
    expect([msOf(ahead) % 3, msOf(behind) % 3]).toEqual([1, 2]);
    expect(msOf(ahead) - msOf(behind)).toBeGreaterThan(1000);
    nodes.silent.delete(0);
    nodes.silent.add(2);
    const began = performance.now();
    const [key] = (await inTime(minter.mint(2, 1))) as [string];
    expect(msOf(key) % 3).toBe(0);
    expect(performance.now() - began).toBeLessThanOrEqual(2);
  });
});

describe('A node that refuses', () => {
  it('is asked again when its millisecond comes, by the clock of the others', async () => {
    const minter = await current.world.readyMinter(5);
    const { nodes } = current.world;
    for (let i = 0; i < 5; i++) {
      const [key] = await inTime(minter.mint(2, 1));
      const clock = msOf(key!) + (i % 3);
      await vi.advanceTimersByTimeAsync(clock - NOW - performance.now());
      const next = (clock + 1) % 5;
      nodes.change(next, { state: 'closed' });
      expect(await inTime(errorOf(minter.mint(2, 1)))).toBeInstanceOf(NodeSetConflictError);
      nodes.change(next, { state: 'open' });
      current.world.askedFor();
      await inTime(minter.mint(2, 1));
      expect(current.world.askedFor()[0]![0]).toBe(next);
    }
  });
});
