import { describe, expect, it, vi } from 'vitest';
import { gate, inTime, isAscending, msOf, NOW, simulateMinters } from './minter-world.ts';

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

  it('are asked in turn by one that mints rarely', async () => {
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
});

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
    const answer = current.world.holdAnswers();
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

  it('asks two nodes for the keys of two calls in one millisecond', async () => {
    const minter = await current.world.readyMinter(65);
    await inTime(minter.mint(2, 1));
    current.world.askedFor();
    const answer = current.world.holdAnswers();
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
