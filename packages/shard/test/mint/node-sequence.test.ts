import { describe, expect, it } from 'vitest';
import type { NodeSet } from '../../src/config/node-set.ts';
import type { ShardNode } from '../../src/config/shard-nodes.ts';
import {
  NodeSequence,
  NodeSetConflictError,
  nodeSequenceStatusOf,
  requireOwnSequence,
} from '../../src/mint/node-sequence.ts';
import type { RedisConnection } from '../../src/redis/connection.ts';

describe('The sequence of a node', () => {
  const SET = {
    fingerprint: 'f',
    nodes: 'a, b',
    size: 3,
    hasMovedNodes: false,
    epoch: 5,
    lead: 1000,
    skew: 7,
    seqname: '$EQUENCE',
    takesOver: false,
  } satisfies NodeSet;

  function recording(reply: unknown[], nodeSet: NodeSet = SET) {
    const calls: (string | number)[][] = [];
    const runner = {
      node: { index: 1, address: 'a:1' },
      run: async (operation: string, _: string, _keys: readonly string[], args: (string | number)[]) => {
        calls.push([operation, ...args]);
        return reply;
      },
    } as unknown as RedisConnection;
    return { calls, sequence: new NodeSequence(runner, nodeSet) };
  }

  it.each([
    ['without bounds', undefined, 40, [40, 'unsure']],
    ['with bounds before the last key', { after: 30, until: 90 }, 40, [40, 'sure', 90]],
    ['with bounds up to the last key', { after: 40, until: 90 }, 40, [41, 'sure', 90]],
    ['with bounds that begin at once', { after: 0, until: 90 }, 0, [1, 'sure', 90]],
    ['without bounds from the beginning on', undefined, 0, [0, 'unsure']],
  ])('is asked for keys %s', async (_, bounds, above, expected) => {
    const { calls, sequence } = recording(['wait', 3, 100, 8]);
    expect(await sequence.mint(6, above, bounds)).toEqual({
      kind: 'wait',
      ms: 8,
      proof: { from: 3, now: 100 },
    });
    expect(calls).toEqual([['minting keys', 'f', 'a, b', 5, 1000, 7, 0, 1, 3, 6, ...expected]]);
  });

  it('is asked with the last millisecond that the process got, and with the index of a moved node', async () => {
    const seen = async (variant: number, granted: number) => {
      const { calls, sequence } = recording(['keys', 3, 100, 50, variant, granted, 9, 10, 13], {
        ...SET,
        hasMovedNodes: true,
      });
      expect(await sequence.mint(6, 0, undefined)).toEqual({
        kind: 'keys',
        ms: 50,
        variant,
        count: granted,
        restIn: 9,
        span: { first: 10, last: 13 },
        proof: { from: 3, now: 100 },
      });
      await sequence.readStatus();
      await sequence.readStatus('minting keys');
      expect(calls.map(([operation]) => operation).slice(1)).toEqual([
        'reading the sequence',
        'minting keys',
      ]);
      return calls.at(-1)!.slice(6);
    };
    expect(await seen(10, 4)).toEqual([50, '1 check']);
    expect(await seen(10, 5)).toEqual([53, '1 check']);
    expect(await seen(13, 1)).toEqual([50, '1 check']);
    expect(await seen(13, 6)).toEqual([56, '1 check']);
  });

  it('is not seen to go back', async () => {
    const reply = ['keys', 3, 100, 50, 10, 1, 0, 10, 13];
    const { calls, sequence } = recording(reply);
    await sequence.mint(1, 0, undefined);
    reply[3] = 41;
    await sequence.mint(1, 0, undefined);
    await sequence.readStatus();
    expect(calls.at(-1)![6]).toBe(50);
  });

  it('that cannot mint answers with its status', async () => {
    const reply = ['own', 'closed', 'n', 'a, b', '4', '30', '1', 'f', '99', '20'];
    const status = {
      whose: 'own',
      state: 'closed',
      next: 'n',
      nodes: 'a, b',
      generation: 4,
      high: 30,
      lost: true,
      fingerprint: 'f',
      now: 99,
      from: 20,
    };
    expect(await recording(reply).sequence.mint(1, 0, undefined)).toEqual({ kind: 'refused', status });
    expect(await recording(reply).sequence.prepare(1)).toEqual(status);
    expect(nodeSequenceStatusOf(reply.with(6, '0')).lost).toBe(false);
  });
});

describe('A sequence that belongs to others', () => {
  const node = { address: 'a:1', name: '0' } as ShardNode;
  const nodeSet = { nodes: 'a:1, b:2', skew: 500, epoch: 7 } as NodeSet;
  const base = nodeSequenceStatusOf(['own', 'open', 'next', 'x:1', 1, 0, 0, 'owner', 0, 0]);

  it.each([
    ['foreign', { whose: 'foreign' }, 'mints keys for other nodes or another epoch (x:1)', 'owner'],
    ['foreign and closed', { whose: 'foreign', state: 'closed' }, 'or another epoch (x:1)', 'owner'],
    [
      'foreign on the same nodes',
      { whose: 'foreign', nodes: 'a:1, b:2' },
      'for the same nodes with another maxSkew or epoch than this config (maxSkew 500, epoch 7)',
      'owner',
    ],
    ['misplaced', { whose: 'misplaced' }, 'is not shards.0, but another node of', 'owner'],
    ['handed over', { state: 'closed' }, 'no longer mints for a:1, b:2', 'next'],
  ] as const)('is refused when it is %s', (_, change, message, next) => {
    const error = (() => {
      try {
        requireOwnSequence(node, nodeSet, { ...base, ...change });
      } catch (thrown) {
        return thrown as NodeSetConflictError;
      }
      throw new Error('it was not refused');
    })();
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain(message);
    expect(error.next).toBe(next);
  });

  it.each([
    {},
    { state: 'pending' },
    { whose: 'missing', state: '' },
    { whose: 'missing', state: 'closed' },
  ] as const)('is not one with %o', (change) => {
    expect(() => requireOwnSequence(node, nodeSet, { ...base, ...change })).not.toThrow();
  });
});
