import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import { inTime, isAscending, msOf, NOW, simulateMinters } from './minter-world.ts';
import { errorOf, ModelNodes, SKEW } from './model-nodes.ts';

const current = simulateMinters();
const address = ModelNodes.addressOf;

describe('A minter', () => {
  it('asks nobody for no keys, or for a call that was aborted', async () => {
    const minter = current.world.minterOf(2);
    expect(await minter.mint(2, 0)).toEqual([]);
    await expect(minter.mint(2, 1, AbortSignal.abort('enough'))).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(100);
    expect(current.world.nodes.asked).toEqual([]);
  });

  it('opens new sequences for its first key, and waits until no lost key can be meant', async () => {
    const minter = current.world.minterOf(2);
    const keys = await inTime(minter.mint(2, 3));
    expect(keys).toHaveLength(3);
    expect(isAscending(keys)).toBe(true);
    expect(msOf(keys[0]!)).toBe(NOW + 1000 + SKEW + 1);
    // The wait for the skew, and one more question.
    expect(performance.now()).toBeLessThan(2 * SKEW);
    expect(current.world.told.map(({ event }) => event)).toEqual(['sequences-opened', 'range-reserved']);
    expect(current.world.told[0]).toMatchObject({ nodes: `${address(0)}, ${address(1)}` });
    expect(current.world.told[1]).toMatchObject({ node: '1', address: address(1), count: 3 });
    expect(current.world.failures).toEqual([]);
  });

  it('gathers the calls of one moment into one question, and those that come meanwhile into the next', async () => {
    const minter = await current.world.readyMinter(1);
    const calls = [minter.mint(2, 3), minter.mint(3, 4)];
    await vi.advanceTimersByTimeAsync(0);
    calls.push(minter.mint(2, 5), minter.mint(2, 6));
    const keys = await inTime(Promise.all(calls));
    expect(current.world.askedFor()).toEqual([
      [0, 7],
      [0, 11],
    ]);
    expect(keys.map(({ length }) => length)).toEqual([3, 4, 5, 6]);
    expect(keys[1]!.every((key) => key.endsWith('03'))).toBe(true);
    expect(isAscending(keys.flat().map((key) => key.slice(0, -2)))).toBe(true);
  });

  it('gives keys that ascend from call to call, at the clock', async () => {
    const minter = await current.world.readyMinter(3);
    const keys: string[] = [];
    for (let i = 0; i < 30; i++) {
      keys.push(...(await inTime(minter.mint(2, 1 + ((i * 700) % 2500)))));
      if (i % 4 === 0) await vi.advanceTimersByTimeAsync(3);
    }
    expect(isAscending(keys)).toBe(true);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has one timer for all calls that wait', async () => {
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

  it('gives the keys of a call that was aborted meanwhile to nobody, and goes on', async () => {
    const minter = await current.world.readyMinter(1);
    const controller = new AbortController();
    current.world.nodes.onQuestion = () => controller.abort('enough');
    const aborted = minter.mint(2, 5, controller.signal).catch((error) => error);
    const other = minter.mint(2, 2);
    expect(await inTime(aborted)).toBe('enough');
    expect(await inTime(other)).toHaveLength(2);
    expect(current.world.askedFor()).toEqual([[0, 7]]);
  });
});

describe('A minter that is closed', () => {
  it('ends all calls', async () => {
    const minter = await current.world.readyMinter(1);
    const [under, error] = [minter.mint(2, 1), new StoreError('closed')];
    minter.close(error);
    await expect(under).rejects.toBe(error);
    await expect(inTime(minter.mint(2, 1))).rejects.toBe(error);
    expect(current.world.nodes.asked).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends a call that waits for a clock', async () => {
    const minter = current.world.minterOf(1);
    const waiting = errorOf(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(5);
    expect(vi.getTimerCount()).toBe(1);
    minter.close(new StoreError('closed'));
    expect(vi.getTimerCount()).toBe(0);
    expect((await waiting).message).toBe('closed');
  });

  it('ends all calls that wait, and later ones', async () => {
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

  it('gives a call its keys if a node has them already', async () => {
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
