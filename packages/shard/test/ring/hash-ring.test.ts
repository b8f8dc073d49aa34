import { createHash } from 'node:crypto';
import { HashRing, type ShardEntry, ShardMap } from '@idsmith/shard';
import fc from 'fast-check';
import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { vectors } from '../../../idsmith/test/support/vectors.ts';
import { keyHash } from '../../src/ring/key-hash.ts';

interface RingVectors {
  readonly placement: {
    name: string;
    shards: Record<string, ShardEntry>;
    ringPoints: number;
    where: Record<string, string | number>;
    virtual: Record<string, number>;
  }[];
  readonly rings: {
    weights: Record<string, number>;
    replicas: Record<string, number>;
    points: number;
    getNode: Record<string, string>;
  }[];
  readonly equalWeightReplicaNot40: { countUpTo3844: number; firstTwenty: number[] };
}

const { placement, rings, equalWeightReplicaNot40 } = vectors<RingVectors>('shard-keys');

const nodes = (size: number, weight = 1) =>
  Object.fromEntries(Array.from({ length: size }, (_, i) => [`10.0.${i >> 8}.${i & 255}:6379`, weight]));

const sample = Array.from({ length: 100_000 }, (_, i) => `8GK${(i * 7919).toString(36)}0002`);

describe('A ring', () => {
  it.each(rings)(
    'of $weights has the points and owners of hash_ring',
    ({ weights, replicas, points, getNode }) => {
      const ring = new HashRing(weights);
      expect(ring.points).toEqual(
        Object.fromEntries(Object.entries(replicas).map(([name, count]) => [name, 4 * count])),
      );
      expect(Object.values(ring.points).reduce((sum, count) => sum + count)).toBe(points);
      const owners = Object.keys(getNode).map((key) => [key, ring.nodeOf(key)]);
      expect(Object.fromEntries(owners)).toEqual(getNode);
    },
  );

  it('gives users:102 to the heaviest of the three nodes in the readme of hash_ring', () => {
    const ring = new HashRing({ '127.0.0.1:8080': 1, '127.0.0.2:8080': 2, '127.0.0.3:8080': 4 });
    expect(ring.nodeOf('users:102')).toBe('127.0.0.3:8080');
  });

  it('rounds as hash_ring does: 39 replicas for some numbers of equal nodes', () => {
    for (const size of equalWeightReplicaNot40.firstTwenty.slice(0, 4)) {
      expect(Object.values(new HashRing(nodes(size)).points)[0]).toBe(4 * 39);
      expect(Object.values(new HashRing(nodes(size - 1)).points)[0]).toBe(4 * 40);
    }
  });

  it('hashes any text as MD5 does, of any length and in any script', () => {
    const reference = (text: string) => createHash('md5').update(text).digest().readUInt32LE(0);
    for (let length = 0; length <= 130; length++) {
      const text = 'k'.repeat(length);
      expect(keyHash(text)).toBe(reference(text));
    }
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        (text) => keyHash(text) === reference(text),
      ),
    );
  });

  it('gives every key to the first point at or after its hash, whatever the weights', () => {
    const weights = fc.dictionary(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 9 }), {
      minKeys: 1,
      maxKeys: 12,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(weights, fc.array(fc.string(), { minLength: 20, maxLength: 20 }), (weights, keys) => {
        const ring = new HashRing(weights);
        const points = Object.entries(ring.points).flatMap(([name, count]) =>
          Array.from({ length: count / 4 }, (_, replica) => {
            const digest = createHash('md5').update(`${name}-${replica}`).digest();
            return [0, 4, 8, 12].map((at): [number, string] => [digest.readUInt32LE(at), name]);
          }).flat(),
        );
        points.sort(([a], [b]) => a - b);
        for (const key of keys) {
          const owner = points.find(([point]) => point >= keyHash(key)) ?? points[0];
          expect(ring.nodeOf(key)).toBe(owner?.[1]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([[[1, 1, 1, 1]], [[1, 2, 1, 4]], [[1, 2, 3, 4, 5, 6, 7, 8]]])(
    'of weights %j gives every node its share of 100,000 keys, to 5 percent of all',
    (weights) => {
      const ring = new HashRing(Object.fromEntries(weights.map((weight, i) => [`10.0.0.${i}:6379`, weight])));
      const counts = new Map<string, number>();
      for (const key of sample) counts.set(ring.nodeOf(key), (counts.get(ring.nodeOf(key)) ?? 0) + 1);
      const total = weights.reduce((sum, weight) => sum + weight);
      for (const [i, weight] of weights.entries()) {
        const share = (counts.get(`10.0.0.${i}:6379`) ?? 0) / sample.length;
        expect(Math.abs(share - weight / total)).toBeLessThan(0.05);
      }
    },
  );

  it('of 20 equal nodes that gets two more moves about a tenth of the keys, all of them to the new nodes', () => {
    const [before, after] = [new HashRing(nodes(20)), new HashRing(nodes(22))];
    const moved = sample.filter((key) => before.nodeOf(key) !== after.nodeOf(key));
    expect(moved.length / sample.length).toBeGreaterThan(0.09);
    expect(moved.length / sample.length).toBeLessThan(0.11);
    const newNodes = Object.keys(nodes(22)).slice(20);
    expect(moved.filter((key) => !newNodes.includes(after.nodeOf(key)))).toEqual([]);
  });

  it.each([
    [{}, /one node or more/],
    [{ a: 1, b: 0 }, /weight of b .* not 0/],
    [{ a: -1 }, /weight of a .* not -1/],
    [{ a: 1.5 }, /weight of a .* not 1\.5/],
    [{ a: Number.NaN }, /weight of a .* not NaN/],
    [{ a: '1' }, /weight of a .* not "1"/],
    [undefined, /nodes/],
    [{ a: 2 ** 24 + 1 }, /weight of a/],
  ])('of %j is refused', refuses);

  it('of 65,536 nodes is refused', () =>
    refuses(nodes(65_536), /^nodes must be at most 65535 nodes, not 65536/));

  function refuses(weights: unknown, message: RegExp): void {
    expect(() => new HashRing(weights as Record<string, number>)).toThrow(InvalidOptionError);
    expect(() => new HashRing(weights as Record<string, number>)).toThrow(message);
  }
});

describe.each(placement)('A map with the nodes of "$name"', ({ shards, where, virtual }) => {
  const map = new ShardMap({ shards });

  it('puts every key where Shardjs puts it', () => {
    for (const [key, name] of Object.entries(where)) {
      const [port, host] = shards[name] as [string, string];
      expect([key, map.whereIs(key), map.addressOf(key)]).toEqual([key, String(name), `${host}:${port}`]);
    }
  });

  it('finds the virtual shard that Shardjs finds', () => {
    for (const [key, shard] of Object.entries(virtual))
      expect([key, map.virtualShardOf(key)]).toEqual([key, shard]);
  });

  it('keeps a key and what has a suffix to it on the same node', () => {
    for (const key of Object.keys(where)) expect(map.whereIs(`${key}-more`)).toBe(map.whereIs(key));
  });
});
