import { describe, expect, it, vi } from 'vitest';
import { handOver } from '../../../src/shard/mint/handover.ts';
import { NodeSetConflictError } from '../../../src/shard/mint/node-set-conflict.ts';
import { gate, inTime, msOf, NOW, simulateMinters } from './minter-world.ts';
import { errorOf } from './model-nodes.ts';

const current = simulateMinters();

/** Makes the nodes wait with their answers. */
function hold(): () => void {
  const [answered, answer] = gate();
  current.world.nodes.onQuestion = () => answered;
  return answer;
}

describe('A minter that is busy', () => {
  it('asks the node of the next millisecond, or of its last key if that one is later', async () => {
    const minter = await current.world.readyMinter(3);
    let [last] = (await inTime(minter.mint(2, 1))) as [string];
    current.world.askedFor();
    let [byClock, byKey] = [0, 0];
    for (let i = 0; i < 40; i++) {
      await vi.advanceTimersByTimeAsync(i % 5);
      const clock = NOW + performance.now();
      const isRare = clock > msOf(last) + 3;
      const keys = await inTime(minter.mint(2, i % 7 === 0 ? 4 * 1612 : 1));
      const [[asked]] = current.world.askedFor() as [[number, number]];
      if (!isRare) {
        expect(asked).toBe(Math.max(clock + 1, msOf(last)) % 3);
        if (clock + 1 > msOf(last)) byClock++;
        else byKey++;
      }
      last = keys.at(-1) as string;
    }
    expect(Math.min(byClock, byKey)).toBeGreaterThan(3);
  });

  it('asks a node for nothing else before it has answered', async () => {
    const minter = await current.world.readyMinter(1);
    const answer = hold();
    const calls = [minter.mint(2, 1)];
    await vi.advanceTimersByTimeAsync(10);
    calls.push(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(10);
    expect(current.world.askedFor()).toEqual([[0, 1]]);
    // The answer begins the next round, so no timer is needed.
    expect(vi.getTimerCount()).toBe(0);
    answer();
    expect((await inTime(Promise.all(calls))).flat()).toHaveLength(2);
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

  it('ends all calls with one error, if its nodes belong to others', async () => {
    const minter = await current.world.readyMinter(1);
    await handOver(current.world.nodes.set([0]), current.world.nodes.set([0], { maxSkew: 60 }));
    const answer = hold();
    const calls = [errorOf(minter.mint(2, 1))];
    await vi.advanceTimersByTimeAsync(10);
    calls.push(errorOf(minter.mint(2, 1)), errorOf(minter.mint(2, 1)), errorOf(minter.mint(2, 1)));
    await vi.advanceTimersByTimeAsync(10);
    answer();
    const [error, ...others] = await inTime(Promise.all(calls));
    expect(error).toBeInstanceOf(NodeSetConflictError);
    for (const other of others) expect(other).toBe(error);
  });

  it('ends a call if a node belongs to others, though that node is silent afterwards', async () => {
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
});

describe('A minter of more nodes than are asked in turn', () => {
  it('asks two nodes for the keys of two calls in one millisecond', async () => {
    const minter = await current.world.readyMinter(65);
    await inTime(minter.mint(2, 1));
    current.world.askedFor();
    const answer = hold();
    const calls = [minter.mint(2, 1)];
    // In the same millisecond, so that both calls aim at the same one.
    await vi.advanceTimersByTimeAsync(0);
    calls.push(minter.mint(2, 1));
    await vi.advanceTimersByTimeAsync(0);
    expect(current.world.nodes.asked).toHaveLength(2);
    answer();
    await inTime(Promise.all(calls));
    const asked = current.world.askedFor().map(([number]) => number);
    expect(new Set(asked).size).toBe(2);
  });

  it('asks each of them when its millisecond comes', async () => {
    const minter = await current.world.readyMinter(65);
    await inTime(minter.mint(2, 1));
    current.world.askedFor();
    const asked: number[] = [];
    for (let i = 0; i < 200; i++) {
      await vi.advanceTimersByTimeAsync(1);
      await inTime(minter.mint(2, 1));
      asked.push(...current.world.askedFor().map(([number]) => number));
    }
    expect(asked).toHaveLength(200);
    expect(asked.every((number, i) => number === (asked[0]! + i) % 65)).toBe(true);
  });

  it('asks the node of the next millisecond if those that it aims at are busy', async () => {
    const minter = await current.world.readyMinter(65);
    const { nodes } = current.world;
    const clock = NOW + performance.now();
    // The proof of a node that is behind ends 20 ms from now. The minter aims at the middle of this time, or later.
    nodes.clocks[(clock + 40) % 65] = NOW - 980;
    const [answered, answer] = gate();
    nodes.onQuestion = ({ args }) => (args.length > 8 ? answered : undefined);
    const calls: Promise<string[]>[] = [];
    for (let i = 0; i < 12; i++) {
      calls.push(minter.mint(2, 1));
      await vi.advanceTimersByTimeAsync(0);
    }
    const aims = [...Array.from({ length: 11 }, (_, i) => clock + 10 + i), clock + 1];
    expect(current.world.askedFor().map(([number]) => number)).toEqual(aims.map((ms) => ms % 65));
    answer();
    expect((await inTime(Promise.all(calls))).map(([key]) => msOf(key!))).toEqual(aims);
  });
});
