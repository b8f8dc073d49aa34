import { HashRing } from '@idsmith/shard/ring';
import { describe, expect, it } from 'vitest';
import { movesBetween, placeKeys, readNodes } from '../../src/lib/ring-shares.ts';

const CONFIG = JSON.stringify({
  shards: { a: [6379, '10.0.0.1', 1], b: ['6379', '10.0.0.2', '1'], c: [6379, '10.0.0.3', 2] },
});

describe('a shard config', () => {
  it('gives the nodes by the names they have on the ring', () => {
    expect(readNodes(CONFIG).map(({ ringName, weight }) => [ringName, weight])).toEqual([
      ['10.0.0.1:6379', 1],
      ['10.0.0.2:6379', 1],
      ['10.0.0.3:6379', 2],
    ]);
  });

  it.each([
    ['{', 'the config is not valid JSON'],
    ['null', 'config must be an object'],
    ['{}', 'must have either shards or a cluster'],
    ['{"cluster": {}}', 'its own slots'],
    ['{"shards": {"a": [0, "h"]}}', 'the port of shards.a must be a whole number from 1 to 65535, not 0'],
    ['{"shards": {"a": [1, "h", "x"]}}', 'the weight of shards.a'],
    ['{"shards": {"a": [1, "h"], "b": [1, "h"]}}', 'shards.b has the address of shards.a'],
  ])('%s is refused with what is wrong', (text, message) => {
    expect(() => readNodes(text)).toThrow(message);
  });
});

describe('shares of the keys', () => {
  it('add up to all of them, and are those of the ring', () => {
    const { nodes, owners, names } = placeKeys(readNodes(CONFIG));
    expect(nodes.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(nodes.map(({ points }) => points)).toEqual([120, 120, 240]);
    expect(new Set(owners)).toEqual(new Set(names.keys()));
    // Far from a third each: the ring is as upstream has it, with few points.
    const ring = new HashRing({ '10.0.0.1:6379': 1, '10.0.0.2:6379': 1, '10.0.0.3:6379': 2 });
    let mine = 0;
    for (let i = 0; i < 100_000; i++) if (ring.nodeOf(`some key ${i}`) === '10.0.0.3:6379') mine++;
    expect(nodes[2]?.share).toBeCloseTo(mine / 100_000, 2);
  });

  it('are 1 for a single node', () => {
    expect(placeKeys([{ ringName: 'h:1', weight: 7 }]).nodes).toEqual([
      { ringName: 'h:1', weight: 7, points: 160, share: 1 },
    ]);
  });
});

describe('what adding a node moves', () => {
  const nodes = readNodes(CONFIG);
  const before = placeKeys(nodes);
  const after = placeKeys([...nodes, { ringName: '10.0.0.4:6379', weight: 1 }]);

  it('is as much as the new node gets, and what the others exchange', () => {
    const moves = movesBetween(before, after);
    const toNew = moves.filter(({ to }) => to === '10.0.0.4:6379').reduce((sum, { share }) => sum + share, 0);
    expect(toNew).toBeCloseTo(after.nodes[3]!.share, 9);
    for (const { ringName, share } of before.nodes) {
      const gone = moves.filter(({ from }) => from === ringName).reduce((sum, move) => sum + move.share, 0);
      const come = moves.filter(({ to }) => to === ringName).reduce((sum, move) => sum + move.share, 0);
      const then = after.nodes.find((node) => node.ringName === ringName)!.share;
      expect(share - gone + come).toBeCloseTo(then, 9);
    }
  });

  it('is nothing when nothing changes', () => {
    expect(movesBetween(before, placeKeys(nodes))).toEqual([]);
  });
});
