import { describe, expect, it } from 'vitest';
import { prefetchPolicy } from '../../src/sequence/prefetch.ts';

/** Draws at a steady rate, as a sequence would, and gives the blocks of each fetch. */
function fetches(
  rate: number,
  latency: number,
  rounds: number,
  blockSize = 20,
  policy = prefetchPolicy('adaptive', blockSize),
) {
  const asked: number[] = [];
  let now = 0;
  let handedOut = 0;
  for (let i = 0; i < rounds; i++) {
    const blocks = policy.blocksToFetch({ now, left: policy.lowWater, wanted: 0, handedOut });
    policy.fetched({ duration: latency, blocks, count: blocks * blockSize });
    handedOut = blocks * blockSize;
    now += Math.max(latency, handedOut / rate);
    asked.push(blocks);
  }
  return asked;
}

const idle = { now: 0, left: 0, wanted: 0, handedOut: 0 };

describe('adaptive', () => {
  it('takes one block at a time while few ids are needed', () => {
    expect(fetches(0.1, 1, 10)).toEqual(Array(10).fill(1));
  });

  it('doubles until a fetch lasts for 20 ms', () => {
    const asked = fetches(20_000, 0.5, 30);
    for (let i = 1; i < asked.length; i++) expect(asked[i]!).toBeLessThanOrEqual(asked[i - 1]! * 2);
    expect(asked.at(-1)! * 20).toBeGreaterThanOrEqual(20_000 * 20);
    expect(asked.at(-1)! * 20).toBeLessThan(20_000 * 20 * 1.1);
  });

  it('looks further ahead where the store is slow, but never further than a second', () => {
    expect(fetches(100, 50, 30).at(-1)! * 20).toBeGreaterThanOrEqual(100 * 50 * 4);
    expect(fetches(100, 50, 30).at(-1)! * 20).toBeLessThan(100 * 50 * 4 * 1.1);
    expect(fetches(100, 5000, 40).at(-1)! * 20).toBeLessThanOrEqual(100 * 1000);
  });

  it('halves at most when fewer are needed, and forgets the rate after a second', () => {
    const busy = () => {
      const policy = prefetchPolicy('adaptive', 20);
      const last = fetches(20_000, 0.5, 30, 20, policy).at(-1)!;
      policy.blocksToFetch({ ...idle, now: 1e6, left: 1e6, handedOut: last * 20 });
      return policy;
    };
    const policy = busy();
    policy.fetched({ duration: 1, blocks: 1, count: 20 });
    const { lowWater } = policy;
    policy.blocksToFetch({ ...idle, now: 1e6 + 999, left: 1e6 });
    policy.fetched({ duration: 1, blocks: 1, count: 20 });
    expect(policy.lowWater).toBe(Math.max(10, Math.ceil(lowWater / 2)));
    expect(busy().blocksToFetch({ ...idle, now: 1e6 + 5000, handedOut: 1 })).toBe(1);
  });

  it('never asks for more than 2^24 ids, or 2^20 blocks', () => {
    expect(fetches(1e12, 1000, 60).at(-1)! * 20).toBeLessThanOrEqual(2 ** 24);
    expect(fetches(1e12, 1000, 60, 1).at(-1)!).toBeLessThanOrEqual(2 ** 20);
    expect(prefetchPolicy('adaptive', 2 ** 30).blocksToFetch({ ...idle, wanted: 5 })).toBe(1);
  });

  it('asks for fewer blocks when they have grown', () => {
    const policy = prefetchPolicy('adaptive', 20);
    const before = fetches(1e6, 1, 30, 20, policy).at(-1)!;
    expect(before * 1e6).toBeGreaterThan(2 ** 24);
    const asked = (now: number) =>
      policy.blocksToFetch({ ...idle, now, left: policy.lowWater, handedOut: 1e8 });
    policy.fetched({ duration: 1, blocks: asked(1e4), count: before * 1e6 });
    expect(asked(1e4 + 100) * 1e6).toBeLessThanOrEqual(2 ** 24);
  });

  it('fetches ahead when half of a planned fetch is left', () => {
    const policy = prefetchPolicy('adaptive', 20);
    expect(policy.lowWater).toBe(0);
    const blocks = policy.blocksToFetch({ ...idle, wanted: 1000 });
    policy.fetched({ duration: 1, blocks, count: blocks * 20 });
    expect([blocks, policy.lowWater]).toEqual([50, 10]);
  });

  it('asks for as much as is waited for beyond what is at hand', () => {
    expect(prefetchPolicy('adaptive', 20).blocksToFetch({ ...idle, wanted: 101 })).toBe(6);
    expect(prefetchPolicy('adaptive', 20).blocksToFetch({ ...idle, left: 60, wanted: 101 })).toBe(3);
  });

  it('counts what is waited for as use, so that callers who always wait soon do not', () => {
    const policy = prefetchPolicy('adaptive', 20);
    const asked: number[] = [];
    // One caller, who asks for 100 ids when the last 100 have come.
    for (let now = 0; now < 20; now++) {
      const blocks = policy.blocksToFetch({ now, left: 0, wanted: 100, handedOut: now === 0 ? 0 : 100 });
      policy.fetched({ duration: 1, blocks, count: blocks * 20 });
      asked.push(blocks);
    }
    expect(asked.at(-1)! * 20).toBeGreaterThanOrEqual(100 * 20);
  });

  it('learns the size of a block from the first', () => {
    const policy = prefetchPolicy('adaptive');
    policy.fetched({ duration: 1, blocks: 1, count: 50 });
    expect(policy.blocksToFetch({ ...idle, wanted: 101 })).toBe(3);
  });
});

describe('a number of blocks', () => {
  it('0 is one block when none is left, however many wait', () => {
    const policy = prefetchPolicy(0, 20);
    expect([policy.lowWater, policy.blocksToFetch({ ...idle, wanted: 1000 })]).toEqual([0, 1]);
  });

  it('n is filled up to n beyond the current one, and beyond those who wait', () => {
    const policy = prefetchPolicy(3, 20);
    const asked = (left: number, wanted: number) => policy.blocksToFetch({ ...idle, left, wanted });
    expect(policy.lowWater).toBe(60);
    expect([asked(0, 0), asked(0, 1), asked(60, 0), asked(0, 1000), asked(40, 1000)]).toEqual([
      4, 4, 1, 53, 51,
    ]);
  });

  it('keeps its size of a block when a source gives one block for many who wait', () => {
    const policy = prefetchPolicy(3, 20);
    policy.fetched({ duration: 1, blocks: 53, count: 20 });
    expect(policy.lowWater).toBe(60);
    policy.fetched({ duration: 1, blocks: 4, count: 40 });
    expect(policy.lowWater).toBe(30);
  });
});
