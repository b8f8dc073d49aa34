import { describe, expect, it, vi } from 'vitest';
import { ClockError, StoreError } from '../../../src/errors.ts';
import { readKey } from '../../../src/shard/keys/codec.ts';
import { handOver } from '../../../src/shard/mint/handover.ts';
import { NodeSetConflictError } from '../../../src/shard/mint/node-set-conflict.ts';
import { FRESH_VARIANTS, UNSURE_VARIANTS } from '../../../src/shard/mint/variants.ts';
import { inTime, isAscending, MINTING, msOf, NOW, simulateMinters } from './minter-world.ts';
import { EPOCH, errorOf, ModelNodes, SKEW } from './model-nodes.ts';

const current = simulateMinters();
const minted = () => current.world.nodes.operations().filter((line) => line.endsWith(MINTING));
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

  it('that mints rarely asks the nodes in turn', async () => {
    const minter = await current.world.readyMinter(3);
    const asked: number[] = [];
    for (let i = 0; i < 6; i++) {
      await inTime(minter.mint(2, 1));
      asked.push(current.world.askedFor()[0]![0] as number);
      // Always the same class of milliseconds.
      await vi.advanceTimersByTimeAsync(3000 - (Math.floor(performance.now()) % 3));
    }
    expect(asked).toEqual([asked[0], (asked[0]! + 1) % 3, (asked[0]! + 2) % 3, ...asked.slice(0, 3)]);
  });

  it('renews the proofs of other nodes after half a second, and not before', async () => {
    const minter = await current.world.readyMinter(2);
    await inTime(minter.mint(2, 1));
    const first = current.world.nodes.operations();
    expect(first).toHaveLength(2);
    await inTime(minter.mint(2, 1));
    expect(current.world.nodes.operations()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(600);
    await inTime(minter.mint(2, 1));
    expect(current.world.nodes.operations()).toHaveLength(2);
  });

  it('ends all calls when it is closed', async () => {
    const minter = await current.world.readyMinter(1);
    const [under, error] = [minter.mint(2, 1), new StoreError('closed')];
    minter.close(error);
    await expect(under).rejects.toBe(error);
    await expect(inTime(minter.mint(2, 1))).rejects.toBe(error);
    expect(current.world.nodes.asked).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends calls that wait for a clock when it is closed', async () => {
    const minter = current.world.minterOf(1);
    const waiting = errorOf(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(5);
    expect(vi.getTimerCount()).toBe(1);
    minter.close(new StoreError('closed'));
    expect(vi.getTimerCount()).toBe(0);
    expect((await waiting).message).toBe('closed');
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

describe('A minter with nodes that fail', () => {
  it('asks another node, tells of it once, and leaves the node alone for a second', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.silent.add(0);
    const keys: string[] = [];
    for (let i = 0; i < 10; i++) {
      keys.push(...(await inTime(minter.mint(2, 1))));
      await vi.advanceTimersByTimeAsync(90);
    }
    expect(current.world.failures.map(([name]) => name)).toEqual([address(0)]);
    expect(current.world.told.filter(({ event }) => event === 'node-failed')).toMatchObject([
      { node: '0', address: address(0), error: current.world.failures[0]![1] },
    ]);
    // The other node cannot tell which set the silent one mints for.
    const variants = keys.slice(1).map((key) => readKey(key, EPOCH).variant);
    expect(variants.every((variant) => variant >= UNSURE_VARIANTS.first)).toBe(true);
    current.world.nodes.operations();
    await vi.advanceTimersByTimeAsync(1000);
    await inTime(minter.mint(2, 1));
    expect(current.world.nodes.operations()).toContain(`0 ${MINTING}`);
    expect(current.world.failures).toHaveLength(2);
  });

  it('uses a node again that is back', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.silent.add(0);
    for (let i = 0; i < 3; i++) await inTime(minter.mint(2, 1));
    current.world.nodes.silent.clear();
    await vi.advanceTimersByTimeAsync(1100);
    await inTime(minter.mint(2, 1));
    const keys: string[] = [];
    for (let i = 0; i < 4; i++) {
      await vi.advanceTimersByTimeAsync(2500);
      keys.push(...(await inTime(minter.mint(2, 1))));
    }
    expect(new Set(keys.map((key) => msOf(key) % 2)).size).toBe(2);
    expect(keys.every((key) => readKey(key, EPOCH).variant <= FRESH_VARIANTS.last)).toBe(true);
    expect(current.world.failures).toHaveLength(1);
  });

  it('fails with the errors of all nodes if none answers, and works at once when they do', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.silent.add(0).add(1);
    const error = await inTime(errorOf(minter.mint(2, 1)));
    expect(error.message).toMatch(/^no node can mint keys: node 10\.0\.0\.\d:6379 is silent; node/);
    current.world.nodes.silent.clear();
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
  });

  it('reports what is no error of a node as one of that node', async () => {
    const minter = await current.world.readyMinter(1);
    current.world.nodes.onQuestion = () => {
      throw new TypeError('broken');
    };
    const error = await inTime(errorOf(minter.mint(2, 1)));
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toBe(`node ${address(0)}: minting keys failed: broken`);
  });

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

  it('opens a sequence that was lost, up to five times', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.models[0]!.hash = undefined;
    current.world.nodes.models[1]!.hash = undefined;
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    const single = await current.world.readyMinter(1);
    let left = 5;
    current.world.nodes.onQuestion = ({ args }) => {
      if (args.length > 8 && left-- > 0) current.world.nodes.models[0]!.hash = undefined;
    };
    expect(await inTime(single.mint(2, 1))).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    left = 6;
    const error = await inTime(errorOf(single.mint(2, 1)));
    expect(error.message).toContain(`node ${address(0)} loses its sequence again and again`);
  });

  it('fails if another node loses its sequence again and again', async () => {
    const minter = await current.world.readyMinter(2);
    let openings = 0;
    current.world.nodes.models[1]!.hash = undefined;
    current.world.nodes.onQuestion = ({ number, operation }) => {
      if (number !== 1 || operation !== 'opening the sequence') return;
      openings++;
      current.world.nodes.models[1]!.hash = undefined;
    };
    const error = await inTime(errorOf(minter.mint(2, 1)));
    expect(error.message).toContain(`node ${address(1)} loses its sequence again and again`);
    // Five times when it was asked for keys, and twenty times when it was asked for a proof.
    expect(openings).toBe(25);
  });

  it('fails if its nodes cannot be opened, without blame for one of them', async () => {
    const minter = current.world.minterOf(2);
    current.world.nodes.silent.add(1);
    const error = await inTime(errorOf(minter.mint(2, 1)));
    expect(error.message).toContain('these nodes have not minted together before');
    // Only the silent one was found to be silent.
    expect(current.world.failures.map(([name]) => name)).toEqual([address(1)]);
    current.world.nodes.silent.clear();
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
  });
});

describe('A minter of an outdated config', () => {
  it('ends all calls, also those that wait, and asks all nodes again before its next key', async () => {
    const minter = await current.world.readyMinter(2);
    await handOver(current.world.nodes.set([0, 1]), current.world.nodes.set([1]));
    current.world.nodes.operations();
    const errors = await inTime(
      Promise.all([errorOf(minter.mint(2, 1)), errorOf(minter.mint(2, 9_000_000))]),
    );
    for (const error of errors) expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(current.world.told.filter(({ event }) => event === 'node-set-conflict')[0]).toMatchObject({
      nodes: `${address(0)}, ${address(1)}`,
      error: errors[0],
    });
    expect(current.world.failures).toEqual([]);
    current.world.nodes.operations();
    await inTime(errorOf(minter.mint(2, 1)));
    expect(minted()).toEqual([]);
    await handOver(current.world.nodes.set([1]), current.world.nodes.set([0, 1]));
    current.world.nodes.operations();
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
    expect(current.world.nodes.operations()).toContain('0 opening the sequence');
    await inTime(minter.mint(2, 1));
    expect(current.world.nodes.operations()).not.toContain('0 opening the sequence');
  });
});

describe('A minter of more nodes than are asked in turn', () => {
  it('mints at the node of a millisecond that lies a little ahead of the clocks', async () => {
    const minter = current.world.minterOf(65);
    await inTime(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(5000);
    const keys: string[] = [];
    for (let i = 0; i < 5; i++) {
      const before = NOW + performance.now();
      const [key] = await inTime(minter.mint(2, 1));
      keys.push(key!);
      // A quarter of the lead ahead is a millisecond of the node that has one 195 ms earlier, too.
      if (i === 0) expect(msOf(key!) - before).toBe(250 - 195);
      expect(msOf(key!) - before).toBeLessThanOrEqual(250);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(isAscending(keys)).toBe(true);
    expect(current.world.failures).toEqual([]);
  });
});
