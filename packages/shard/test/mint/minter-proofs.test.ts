import { describe, expect, it, vi } from 'vitest';
import { inTime, simulateMinters } from './minter-world.ts';

const current = simulateMinters();

describe('A minter that needs proofs', () => {
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

  it('asks all nodes for them before one of many mints, also the one that was first in turn', async () => {
    const minter = await current.world.readyMinter(65);
    await inTime(minter.mint(2, 1));
    const asked = current.world.nodes.asked.splice(0);
    const proofs = asked.filter(({ args }) => args.length <= 8).map(({ number }) => number);
    expect([...proofs].sort((a, b) => a - b)).toEqual(Array.from({ length: 65 }, (_, i) => i));
    expect(asked.filter(({ args }) => args.length > 8)).toHaveLength(1);
  });

  it('asks for nothing but them and keys if another process has minted before', async () => {
    await current.world.readyMinter(2);
    const later = current.world.minterOn([0, 1]);
    await inTime(later.mint(2, 1));
    expect(current.world.nodes.operations()).toEqual(['1 minting keys', '0 minting keys']);
  });

  it('asks for no proof that a key has brought', async () => {
    const minter = await current.world.readyMinter(2);
    await inTime(minter.mint(2, 1));
    current.world.nodes.operations();
    const asked = new Set<number>();
    for (let i = 0; i < 40; i++) {
      await vi.advanceTimersByTimeAsync(25);
      await inTime(minter.mint(2, 1));
      const questions = current.world.nodes.asked.splice(0);
      expect(questions).toHaveLength(1);
      asked.add(questions[0]!.number);
    }
    expect(asked.size).toBe(2);
  });

  it('asks for no proof that the opening of the sequences has brought', async () => {
    const minter = current.world.minterOf(3);
    await inTime(minter.mint(2, 1));
    const { asked } = current.world.nodes;
    const opened = asked.findLastIndex(({ operation }) => operation === 'opening the sequence');
    expect(opened).toBeGreaterThan(0);
    // A question for keys has more arguments than one for a proof.
    expect(asked[opened + 1]?.args.length).toBeGreaterThan(8);
  });
});
