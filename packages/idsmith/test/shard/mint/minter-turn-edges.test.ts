import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import { inTime, isAscending, msOf, NOW, simulateMinters } from './minter-world.ts';
import { ModelNodes } from './model-nodes.ts';

const current = simulateMinters();

describe('The nodes of a minter', () => {
  it.each([
    [0, 0],
    [0.4, 1],
    [0.99, 2],
  ])('begin with one by chance: %d', async (chance, first) => {
    vi.spyOn(Math, 'random').mockReturnValue(chance);
    await inTime(current.world.minterOf(3).mint(2, 1));
    expect(current.world.askedFor()[0]![0]).toBe(first);
  });

  it('are asked for nothing but keys and proofs by a process that comes later', async () => {
    await current.world.readyMinter(2);
    const later = current.world.minterOn([0, 1]);
    await inTime(later.mint(2, 1));
    expect(current.world.nodes.operations()).toEqual(['1 minting keys', '0 minting keys']);
  });

  it('are asked in turn if there are 64 of them, and by their milliseconds if there are more', async () => {
    const firsts = async (count: number) => {
      const minter = await current.world.readyMinter(count);
      const asked: number[] = [];
      for (let i = 0; i < 3; i++) {
        await inTime(minter.mint(2, 1));
        asked.push(current.world.askedFor().at(-1)![0]);
        // A time after which the millisecond belongs to the same node.
        await vi.advanceTimersByTimeAsync(count * 50);
      }
      return asked.map((number) => (number - asked[0]! + count) % count);
    };
    expect(await firsts(64)).toEqual([0, 1, 2]);
    expect(await firsts(65)).toEqual([0, 0, 0]);
  });

  it('are all asked for proofs before one of many mints, also the one that was first in turn', async () => {
    const minter = await current.world.readyMinter(65);
    await inTime(minter.mint(2, 1));
    const asked = current.world.nodes.asked.splice(0);
    const proofs = asked.filter(({ args }) => args.length <= 8).map(({ number }) => number);
    expect([...proofs].sort((a, b) => a - b)).toEqual(Array.from({ length: 65 }, (_, i) => i));
    expect(asked.filter(({ args }) => args.length > 8)).toHaveLength(1);
  });

  it('give keys that ascend, also where the clock of one is behind', async () => {
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

  it('do not keep those waiting whose clocks are far behind those of others', async () => {
    const minter = await current.world.readyMinter(2);
    await inTime(minter.mint(2, 1));
    current.world.nodes.clocks.fill(NOW - 5000);
    await vi.advanceTimersByTimeAsync(6000);
    const began = performance.now();
    await inTime(minter.mint(2, 1));
    expect(performance.now() - began).toBeLessThan(100);
  });

  it('mint while one of them is silent and another one has lost its sequence', async () => {
    const minter = await current.world.readyMinter(3);
    const { nodes } = current.world;
    nodes.silent.add(0);
    await inTime(minter.mint(2, 1));
    nodes.models[1]!.hash = undefined;
    nodes.models[2]!.hash = { ...nodes.models[2]!.hash! };
    await vi.advanceTimersByTimeAsync(3000);
    const keys: string[] = [];
    for (let i = 0; i < 4; i++) {
      keys.push(...(await inTime(minter.mint(2, 1))));
      await vi.advanceTimersByTimeAsync(1500);
    }
    expect(isAscending(keys)).toBe(true);
    expect(new Set(keys.map((key) => msOf(key) % 3))).toEqual(new Set([1, 2]));
    expect(current.world.failures.every(([name]) => name === ModelNodes.addressOf(0))).toBe(true);
  });

  it('are asked at once after a failure if there is only one', async () => {
    const minter = await current.world.readyMinter(1);
    current.world.nodes.silent.add(0);
    await expect(inTime(minter.mint(2, 1))).rejects.toThrow('is silent');
    current.world.nodes.silent.clear();
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
  });

  it('that are silent are not asked by each call of many', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.silent.add(0);
    for (let i = 0; i < 5; i++) await inTime(minter.mint(2, 1));
    const asked = current.world.nodes.operations().filter((line) => line.startsWith('0 '));
    expect(asked).toHaveLength(1);
    expect(current.world.failures).toHaveLength(1);
  });
});

describe('Calls that wait', () => {
  it('share one timer', async () => {
    const minter = current.world.minterOf(2);
    const calls = [minter.mint(2, 1)];
    await vi.advanceTimersByTimeAsync(5);
    calls.push(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(5);
    calls.push(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(5);
    expect(vi.getTimerCount()).toBe(1);
    const keys = (await inTime(Promise.all(calls))).flat();
    expect(new Set(keys).size).toBe(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('end all of them when the minter is closed, and so do later ones', async () => {
    const minter = current.world.minterOf(1);
    const error = new StoreError('closed');
    const endOf = (call: Promise<string[]>) => call.catch((thrown) => thrown);
    const waiting = [endOf(minter.mint(2, 1)), endOf(minter.mint(2, 1)), endOf(minter.mint(2, 1))];
    await vi.advanceTimersByTimeAsync(5);
    minter.close(error);
    expect(await inTime(Promise.all(waiting))).toEqual([error, error, error]);
    // Also if a node has keys at once.
    const ready = await current.world.readyMinter(1);
    ready.close(error);
    const later = [endOf(ready.mint(2, 1)), endOf(ready.mint(2, 1))];
    expect(await inTime(Promise.all(later))).toEqual([error, error]);
    expect(current.world.askedFor()).toEqual([]);
  });

  it('get their keys if a node has them already when the minter is closed', async () => {
    const minter = await current.world.readyMinter(1);
    const call = minter.mint(2, 3);
    let isAsked = false;
    current.world.nodes.onQuestion = () => {
      isAsked = true;
      minter.close(new StoreError('closed'));
    };
    expect(await inTime(call)).toHaveLength(3);
    expect(isAsked).toBe(true);
    await expect(minter.mint(2, 1)).rejects.toThrow('closed');
  });
});
