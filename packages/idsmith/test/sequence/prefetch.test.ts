import { describe, expect, it } from 'vitest';
import { prefetchPolicy } from '../../src/sequence/prefetch.ts';

/** Fetches one after the other at a steady rate, as a sequence would, and gives the blocks of each. */
function fetches(
  rate: number,
  latency: number,
  rounds: number,
  blockSize = 20,
  policy = prefetchPolicy('adaptive', blockSize),
) {
  const asked: number[] = [];
  let now = 0;
  for (let i = 0; i < rounds; i++) {
    const blocks = policy.blocksToFetch(policy.lowWater, 0);
    const count = blocks * blockSize;
    const handedOut = asked.length === 0 ? 0 : Math.max(1, asked.at(-1)! * blockSize);
    policy.fetched({ startedAt: now, endedAt: now + latency, handedOut, blocks, count });
    now += Math.max(latency, count / rate);
    asked.push(blocks);
  }
  return asked;
}

describe('adaptive', () => {
  it('takes one block at a time while few ids are needed', () => {
    expect(fetches(0.1, 1, 10)).toEqual(Array(10).fill(1));
  });

  it('doubles until a fetch lasts for 20 ms', () => {
    const asked = fetches(20_000, 0.5, 30);
    for (let i = 1; i < asked.length; i++) expect(asked[i]!).toBeLessThanOrEqual(asked[i - 1]! * 2);
    expect(asked.at(-1)! * 20).toBeGreaterThanOrEqual(20_000 * 20);
    expect(asked.at(-1)! * 20).toBeLessThan(20_000 * 20 * 2);
  });

  it('looks further ahead where the store is slow', () => {
    expect(fetches(100, 50, 30).at(-1)! * 20).toBeGreaterThanOrEqual(100 * 50 * 8);
  });

  it('halves at most when fewer are needed', () => {
    const policy = prefetchPolicy('adaptive', 20);
    fetches(20_000, 0.5, 30, 20, policy);
    const busy = policy.blocksToFetch(0, 0);
    policy.fetched({ startedAt: 1e9, endedAt: 1e9 + 1, handedOut: 10, blocks: busy, count: busy * 20 });
    expect(policy.blocksToFetch(0, 0)).toBe(Math.ceil(busy / 2));
  });

  it('never asks for more than 2^24 ids, or 2^20 blocks', () => {
    expect(fetches(1e12, 1000, 60).at(-1)! * 20).toBeLessThanOrEqual(2 ** 24);
    expect(fetches(1e12, 1000, 60, 1).at(-1)!).toBeLessThanOrEqual(2 ** 20);
    expect(prefetchPolicy('adaptive', 2 ** 30).blocksToFetch(0, 5)).toBe(1);
  });

  it('fetches ahead when half of the last fetch is used', () => {
    const policy = prefetchPolicy('adaptive', 20);
    expect(policy.lowWater).toBe(0);
    policy.fetched({ startedAt: 0, endedAt: 1, handedOut: 0, blocks: 1, count: 20 });
    expect(policy.lowWater).toBe(10);
  });

  it('asks for as much as is waited for', () => {
    expect(prefetchPolicy('adaptive', 20).blocksToFetch(0, 101)).toBe(6);
  });

  it('learns the size of a block from the first', () => {
    const policy = prefetchPolicy('adaptive');
    policy.fetched({ startedAt: 0, endedAt: 1, handedOut: 0, blocks: 1, count: 50 });
    expect(policy.blocksToFetch(0, 101)).toBe(3);
  });
});

describe('a number of blocks', () => {
  it('0 is one block when none is left, however many wait', () => {
    const policy = prefetchPolicy(0, 20);
    expect([policy.lowWater, policy.blocksToFetch(0, 1000)]).toEqual([0, 1]);
  });

  it('n is filled up to n beyond the current one', () => {
    const policy = prefetchPolicy(3, 20);
    expect([policy.lowWater, policy.blocksToFetch(0, 0), policy.blocksToFetch(60, 0)]).toEqual([60, 4, 1]);
  });
});
