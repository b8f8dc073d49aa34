import { readKey } from 'idsmith/internal';
import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import { FRESH_UNSURE_VARIANTS, FRESH_VARIANTS } from '../../src/keys/variants.ts';
import { Minter } from '../../src/mint/minter.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { gate, inTime, isAscending, MINTING, msOf, simulateMinters } from './minter-world.ts';
import { EPOCH, errorOf, ModelNodes } from './model-nodes.ts';

const current = simulateMinters();
const address = ModelNodes.addressOf;

/** A minter whose node 0 has just failed, and the moment of the failure. */
async function withFailedNode() {
  const minter = await current.world.readyMinter(2);
  const { nodes, failures } = current.world;
  nodes.silent.add(0);
  let failedAt = 0;
  nodes.onQuestion = ({ number }) => {
    if (number === 0 && failures.length === 0) failedAt = performance.now();
  };
  while (failures.length === 0) await inTime(minter.mint(2, 1));
  nodes.onQuestion = () => {};
  nodes.operations();
  return { minter, nodes, failedAt };
}

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
    expect(variants.every((variant) => variant >= FRESH_UNSURE_VARIANTS.first)).toBe(true);
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

  it('asks its only node at once after a failure', async () => {
    const minter = await current.world.readyMinter(1);
    current.world.nodes.silent.add(0);
    await expect(inTime(minter.mint(2, 1))).rejects.toThrow('is silent');
    current.world.nodes.silent.clear();
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
  });

  it('does not ask a silent node with each of many calls', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.silent.add(0);
    for (let i = 0; i < 5; i++) await inTime(minter.mint(2, 1));
    const asked = current.world.nodes.operations().filter((line) => line.startsWith('0 '));
    expect(asked).toHaveLength(1);
    expect(current.world.failures).toHaveLength(1);
  });
});

describe('A node that has failed', () => {
  it('is left alone for a second, and asked at its end', async () => {
    const { minter, nodes, failedAt } = await withFailedNode();
    await vi.advanceTimersByTimeAsync(failedAt + 999 - performance.now());
    await inTime(minter.mint(2, 1));
    expect(nodes.operations()).toEqual([`1 ${MINTING}`]);
    await vi.advanceTimersByTimeAsync(failedAt + 1000 - performance.now());
    await inTime(minter.mint(2, 1));
    expect(nodes.operations().sort()).toEqual([`0 ${MINTING}`, `1 ${MINTING}`]);
    // It is told again, because it was asked again.
    expect(current.world.failures).toHaveLength(2);
  });

  it('is told once, though two calls wait for its answer', async () => {
    const minter = await current.world.readyMinter(3);
    const { nodes, failures } = current.world;
    const [answered, answer] = gate();
    nodes.silent.add(0);
    nodes.onQuestion = ({ number }) => (number === 0 ? answered : undefined);
    const calls: Promise<string[]>[] = [];
    for (let i = 0; i < 3; i++) {
      calls.push(minter.mint(2, 1));
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(failures).toEqual([]);
    answer();
    expect(await inTime(Promise.all(calls))).toHaveLength(3);
    expect(failures).toHaveLength(1);
  });

  it('is left alone for a second again, if it has minted since its last failure', async () => {
    const { minter, nodes } = await withFailedNode();
    const asked = () => current.world.askedFor().some(([number]) => number === 0);
    nodes.silent.clear();
    await vi.advanceTimersByTimeAsync(1100);
    for (let i = 0; i < 10 && !asked(); i++) {
      await inTime(minter.mint(2, 1));
      await vi.advanceTimersByTimeAsync(1);
    }
    nodes.silent.add(0);
    await vi.advanceTimersByTimeAsync(3000);
    while (current.world.failures.length < 2) await inTime(minter.mint(2, 1));
    nodes.operations();
    await vi.advanceTimersByTimeAsync(1000);
    await inTime(minter.mint(2, 1));
    expect(nodes.operations()).toContain(`0 ${MINTING}`);
  });

  it('is asked again, though every node has failed once', async () => {
    const { minter, nodes } = await withFailedNode();
    nodes.silent.add(1);
    await inTime(errorOf(minter.mint(2, 1)));
    nodes.silent.clear();
    await vi.advanceTimersByTimeAsync(60_000);
    for (let i = 0; i < 10; i++) {
      await inTime(minter.mint(2, 1));
      await vi.advanceTimersByTimeAsync(1001);
    }
    const before = current.world.failures.length;
    nodes.silent.add(0);
    while (current.world.failures.length === before) await inTime(minter.mint(2, 1));
    nodes.silent.clear();
    nodes.operations();
    await vi.advanceTimersByTimeAsync(1000);
    await inTime(minter.mint(2, 1));
    expect(nodes.operations()).toContain(`0 ${MINTING}`);
  });

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

  it('serves a call that has no other node left, as soon as it is back', async () => {
    const { minter, nodes } = await withFailedNode();
    await vi.advanceTimersByTimeAsync(1100);
    nodes.silent.clear();
    const [answered, answer] = gate();
    nodes.onQuestion = ({ number }) => {
      if (number === 0) return answered;
      throw new Error('away');
    };
    const call = minter.mint(2, 1);
    await vi.advanceTimersByTimeAsync(100);
    // The call has failed on node 1. Node 0 has not told whether it is back.
    expect(current.world.failures).toHaveLength(2);
    expect(current.world.askedFor().map(([number]) => number)).toEqual([1]);
    answer();
    expect(await inTime(call)).toHaveLength(1);
    expect(current.world.askedFor().map(([number]) => number)).toEqual([0]);
  });

  it('ends minting if it comes back with another node set', async () => {
    const { minter, nodes } = await withFailedNode();
    nodes.silent.clear();
    nodes.models[0]!.hash = undefined;
    await inTime(current.world.minterOn([0]).mint(2, 1));
    await vi.advanceTimersByTimeAsync(1100);
    // This call asks node 1, and asks node 0 beside it.
    await inTime(minter.mint(2, 1));
    current.world.askedFor();
    expect(await inTime(errorOf(minter.mint(2, 1)))).toBeInstanceOf(NodeSetConflictError);
    expect(current.world.askedFor()).toEqual([]);
  });

  it('has all nodes asked before the next key if it came with another node set, though it is silent again', async () => {
    const { minter, nodes } = await withFailedNode();
    nodes.silent.clear();
    nodes.models[0]!.hash = undefined;
    await inTime(current.world.minterOn([0]).mint(2, 1));
    await vi.advanceTimersByTimeAsync(1100);
    await inTime(minter.mint(2, 1));
    nodes.silent.add(0);
    nodes.operations();
    await inTime(minter.mint(2, 1));
    const asked = nodes.operations();
    expect(asked).toEqual(expect.arrayContaining(['0 reading the sequence', '1 reading the sequence']));
    expect(asked.at(-1)).toBe(`1 ${MINTING}`);
  });

  it('is asked for keys alone, if all nodes have failed', async () => {
    const { minter, nodes } = await withFailedNode();
    nodes.silent.add(1);
    await inTime(errorOf(minter.mint(2, 1)));
    await vi.advanceTimersByTimeAsync(60_000);
    nodes.operations();
    await inTime(errorOf(minter.mint(2, 1)));
    expect(current.world.nodes.operations().sort()).toEqual([`0 ${MINTING}`, `1 ${MINTING}`]);
  });

  it('is not asked by a call that has failed elsewhere, as long as a third node is there', async () => {
    const minter = await current.world.readyMinter(3);
    const { nodes, failures } = current.world;
    nodes.silent.add(2);
    while (failures.length === 0) await inTime(minter.mint(2, 1));
    const [answered, answer] = gate();
    nodes.onQuestion = ({ number }) => (number === 1 ? answered : undefined);
    const calls: Promise<string[]>[] = [];
    while (!current.world.askedFor().some(([number]) => number === 1)) {
      calls.push(minter.mint(2, 1));
      await vi.advanceTimersByTimeAsync(1);
    }
    nodes.silent.add(0);
    calls.push(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(100);
    expect(current.world.askedFor().map(([number]) => number)).toEqual([0]);
    answer();
    expect(msOf((await inTime(Promise.all(calls))).at(-1)![0]!) % 3).toBe(1);
    expect(failures).toHaveLength(2);
  });

  it('is asked by a call that has failed on all others, though these serve later calls again', async () => {
    const { minter, nodes } = await withFailedNode();
    await vi.advanceTimersByTimeAsync(1100);
    const [answered, answer] = gate();
    nodes.onQuestion = ({ number }) => (number === 0 ? answered : undefined);
    nodes.silent.add(1);
    const stuck = minter.mint(2, 1);
    await vi.advanceTimersByTimeAsync(1);
    // Node 0 is asked whether it is back. Node 1 is back at once.
    expect(current.world.failures).toHaveLength(2);
    nodes.silent.delete(1);
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
    const [held, release] = gate();
    nodes.onQuestion = ({ number, args }) => {
      if (number === 1) return held;
      // The question whether node 0 is back fails. The node answers the next one, which is for keys.
      if (args.length > 8) nodes.silent.delete(0);
      return undefined;
    };
    const later = [minter.mint(2, 1)];
    await vi.advanceTimersByTimeAsync(1);
    later.push(minter.mint(2, 1));
    answer();
    expect(msOf((await inTime(stuck))[0]!) % 2).toBe(0);
    expect(current.world.failures).toHaveLength(3);
    release();
    expect((await inTime(Promise.all(later))).flat()).toHaveLength(2);
  });
});

describe('A minter whose nodes have lost their sequences', () => {
  it('opens a lost sequence up to five times', async () => {
    const minter = await current.world.readyMinter(2);
    current.world.nodes.models[0]!.hash = undefined;
    current.world.nodes.models[1]!.hash = undefined;
    expect(await inTime(minter.mint(2, 1))).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    const single = await current.world.readyMinter(1);
    let left = 5;
    current.world.nodes.onQuestion = ({ args }) => {
      if (args.length > 9 && left-- > 0) current.world.nodes.models[0]!.hash = undefined;
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
    expect(openings).toBe(5);
  });

  it('looks at a lost sequence again after timeout, although it has to wait for longer', async () => {
    current.world.minterOf(1);
    const { nodes } = current.world;
    const sequences = nodes.set([0], { maxSkew: 60_000 });
    const minter = new Minter(sequences, sequences[0]!.nodeSet, 100, { failed() {} });
    let openedAt = 0;
    nodes.onQuestion = ({ operation }) => {
      if (operation === 'opening the sequence') openedAt = performance.now();
      else if (performance.now() > openedAt) nodes.models[0]!.hash = undefined;
    };
    const began = performance.now();
    const error = await inTime(errorOf(minter.mint(2, 1)));
    expect(error.message).toContain(`node ${address(0)} loses its sequence again and again`);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it('mints with a node that has lost its sequence while another one is silent', async () => {
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
    expect(current.world.failures.every(([name]) => name === address(0))).toBe(true);
  });
});
