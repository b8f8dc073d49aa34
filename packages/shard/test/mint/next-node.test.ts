import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import type { NodeSet } from '../../src/config/node-set.ts';
import type { MintPart } from '../../src/mint/mint-request.ts';
import { nextNodeFor } from '../../src/mint/minter.ts';
import { MintingNode } from '../../src/mint/minting-nodes.ts';
import type { NodeSequence } from '../../src/mint/node-sequence.ts';

const NOW = 10_000;
const nodeOf = () => new MintingNode({ node: { address: 'a:1' } } as unknown as NodeSequence);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(NOW);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('The node of the next millisecond in a large node set', () => {
  const SET = { lead: 1000, size: 4, skew: 50 } as NodeSet;
  /** The clock of the nodes. Its millisecond belongs to the first one. */
  const CLOCK = 700_000;

  function fourNodes(): MintingNode[] {
    return Array.from({ length: 4 }, (_, i) => {
      const node = nodeOf();
      // All but one of them were read earlier, by slower questions.
      node.answered({ from: 0, now: i === 2 ? CLOCK : CLOCK - 9 }, NOW);
      return node;
    });
  }

  const choose = (
    nodes: readonly MintingNode[],
    above = 0,
    bounds?: { after: number; until: number },
    node = nodes[3]!,
    parts: readonly MintPart[] = [],
  ) => {
    const chosen = nextNodeFor(nodes, node, parts, above, bounds, SET);
    return chosen && nodes.indexOf(chosen);
  };

  it('is the one that was asked where no clock is known', () => {
    expect(
      choose(
        Array.from({ length: 4 }, () => nodeOf()),
        1,
        undefined,
      ),
    ).toBe(3);
    const unread = Array.from({ length: 4 }, () => nodeOf());
    for (const index of [0, 1, 2]) expect(choose(unread, 0, undefined, unread[index])).toBe(index);
    // One clock is enough.
    unread[0]!.answered({ from: 0, now: CLOCK }, NOW);
    expect(choose(unread, 0, undefined, unread[0])).toBe(2);
  });

  it.each([
    // A quarter of the lead ahead of the latest clock: 700,250.
    ['without bounds', 0, undefined, 2],
    // Half of the time up to the bounds: 700,050, the greatest one below 700,050.5.
    ['with near bounds', 0, { after: 0, until: CLOCK + 101 }, 2],
    ['with bounds that are just far enough', 0, { after: 0, until: CLOCK + 500 }, 2],
    ['with far bounds', 0, { after: 0, until: CLOCK + 5000 }, 2],
    ['with bounds that end now', 0, { after: 0, until: CLOCK }, 0],
    // Beyond old bounds, as without any.
    ['with old bounds', 0, { after: 0, until: CLOCK - 1 }, 2],
    ['with a later key', CLOCK + 301, undefined, 1],
    ['with bounds that begin later', 0, { after: CLOCK + 302, until: CLOCK + 5000 }, 3],
    ['with bounds that begin earlier', CLOCK + 252, { after: CLOCK + 250, until: CLOCK + 5000 }, 0],
  ])('is chosen %s', (_, above, bounds, expected) => {
    const nodes = fourNodes();
    expect(choose(nodes, above, bounds, nodes[(expected + 1) % 4])).toBe(expected);
  });

  it('is a later one where the first ones are busy, wait or have failed', () => {
    const nodes = fourNodes();
    nodes[2]!.isBusy = true;
    expect(choose(nodes, 0, undefined, nodes[1])).toBe(3);
    nodes[3]!.waitUntil = NOW + 1;
    expect(choose(nodes, 0, undefined, nodes[1])).toBe(0);
    nodes[3]!.waitUntil = NOW;
    expect(choose(nodes, 0, undefined, nodes[1])).toBe(3);
    nodes[3]!.failed(NOW, false);
    expect(choose(nodes, 0, undefined, nodes[1])).toBe(0);
    const failures = new Map([[nodes[0]!, new StoreError('failed')]]);
    const parts = [{ request: {} }, { request: { failures } }] as unknown as MintPart[];
    expect(choose(nodes, 0, undefined, nodes[1], parts)).toBe(1);
    // The one that was asked is busy with this very question.
    expect(choose(nodes, 0, undefined, nodes[2])).toBe(2);
  });

  it('is the one that was asked where no other has a millisecond within the limit', () => {
    const nodes = fourNodes();
    nodes[0]!.isBusy = true;
    const until = CLOCK + 400;
    expect(choose(nodes, until, { after: 0, until }, nodes[2])).toBe(2);
    expect(choose(nodes, until, { after: 0, until: until + 1 }, nodes[2])).toBe(1);
    expect(choose(nodes, 0, { after: 0, until: CLOCK }, nodes[2])).toBe(2);
    for (const node of nodes) node.isBusy = true;
    const failures = new Map([[nodes[2]!, new StoreError('failed')]]);
    const parts = [{ request: { failures } }] as unknown as MintPart[];
    expect(choose(nodes, 0, undefined, nodes[2], parts)).toBe(2);
  });

  it('is none where all have to wait for their clocks, unless one of them went back', () => {
    const [until, most] = [CLOCK + 400, SET.lead + SET.skew];
    const nodes = fourNodes();
    nodes[1]!.waitUntil = NOW + 500;
    expect(choose(nodes, until + 30, { after: 0, until })).toBeUndefined();
    expect(nodes.map(({ waitUntil }) => waitUntil - NOW)).toEqual([30, 500, 30, 30]);
    expect(nodes.every((node) => node.isProofOld(NOW))).toBe(true);
    expect(choose(fourNodes(), until, { after: 0, until })).toBe(0);
    expect(choose(fourNodes(), until + most, { after: 0, until })).toBeUndefined();
    expect(choose(fourNodes(), until + most + 1, { after: 0, until })).toBe(3);
    expect(choose(fourNodes(), CLOCK + 1001)).toBeUndefined();
    expect(choose(fourNodes(), CLOCK + 1001, { after: 0, until: CLOCK - 1 })).toBeUndefined();
  });
});
