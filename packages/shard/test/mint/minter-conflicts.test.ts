import { describe, expect, it, vi } from 'vitest';
import { handOver } from '../../src/mint/handover.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { inTime, MINTING, msOf, NOW, simulateMinters } from './minter-world.ts';
import { errorOf, ModelNodes } from './model-nodes.ts';

const current = simulateMinters();
const minted = () => current.world.nodes.operations().filter((line) => line.endsWith(MINTING));
const address = ModelNodes.addressOf;

describe('A minter whose nodes belong to others', () => {
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

  it('ends all calls with one error', async () => {
    const minter = await current.world.readyMinter(1);
    await handOver(current.world.nodes.set([0]), current.world.nodes.set([0], { maxSkew: 60 }));
    const answer = current.world.holdAnswers();
    const calls = [errorOf(minter.mint(2, 1))];
    await vi.advanceTimersByTimeAsync(10);
    calls.push(errorOf(minter.mint(2, 1)), errorOf(minter.mint(2, 1)), errorOf(minter.mint(2, 1)));
    await vi.advanceTimersByTimeAsync(10);
    answer();
    const [error, ...others] = await inTime(Promise.all(calls));
    expect(error).toBeInstanceOf(NodeSetConflictError);
    for (const other of others) expect(other).toBe(error);
  });

  it('ends a call, though the node that belongs to others is silent afterwards', async () => {
    const minter = await current.world.readyMinter(3);
    const { nodes } = current.world;
    // The nodes have given proofs lately, so that the node is asked for keys next.
    await inTime(minter.mint(2, 1));
    nodes.models[0]!.hash = undefined;
    await inTime(current.world.minterOn([0]).mint(2, 1));
    nodes.onQuestion = ({ number, operation }) => {
      if (number === 0 && operation === 'reading the sequence') nodes.silent.add(0);
    };
    const mintSome = async () => {
      for (let i = 0; i < 6; i++) {
        await vi.advanceTimersByTimeAsync(1);
        await inTime(minter.mint(2, 1));
      }
    };
    expect(await errorOf(mintSome())).toBeInstanceOf(NodeSetConflictError);
  });

  it('asks a node that has refused again when its millisecond comes, by the clock of the others', async () => {
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
