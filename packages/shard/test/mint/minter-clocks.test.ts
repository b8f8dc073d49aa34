import { describe, expect, it, vi } from 'vitest';
import { ClockError } from '../../../idsmith/src/errors.ts';
import type { Minter } from '../../src/mint/minter.ts';
import { inTime, isAscending, msOf, NOW, simulateMinters } from './minter-world.ts';
import { SKEW } from './model-nodes.ts';

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

describe('A node whose clock is behind', () => {
  it('gives keys that ascend with those of the others', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.clocks[1] = NOW - 40;
    const keys: string[] = [];
    for (let i = 0; i < 8; i++) {
      keys.push(...(await inTime(minter.mint(2, 1))));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(new Set(keys.map((key) => msOf(key) % 2)).size).toBe(2);
    expect(isAscending(keys)).toBe(true);
  });

  it('does not wait for those whose clocks were ahead of its own', async () => {
    const minter = await current.world.readyMinter(2);
    await inTime(minter.mint(2, 1));
    current.world.nodes.clocks.fill(NOW - 5000);
    await vi.advanceTimersByTimeAsync(6000);
    const began = performance.now();
    await inTime(minter.mint(2, 1));
    expect(performance.now() - began).toBeLessThan(100);
  });

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

describe('A minter', () => {
  it.each([
    [0, false],
    [1, true],
  ])('fails if a clock has gone back for longer than a wait may take: %d ms more', async (more, fails) => {
    const minter = await current.world.readyMinter(1);
    const [key] = await inTime(minter.mint(2, 1));
    const clock = NOW + performance.now();
    // The next key lies in the same millisecond, as long as there are variants left.
    const wait = 1000 + SKEW + 1 + 1000 + more;
    current.world.nodes.clocks[0] = NOW - (clock - msOf(key!)) - 1000 - wait;
    const call = minter.mint(2, 1);
    const error = await inTime(call).catch((thrown) => thrown);
    if (!fails) expect(error).toHaveLength(1);
    else {
      expect(error).toBeInstanceOf(ClockError);
      expect(error.message).toContain(`its sequence is ${wait + 1000} ms ahead of its clock`);
    }
  });
});
