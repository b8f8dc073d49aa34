import { beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import { askNodes } from '../../../src/shard/mint/ask-nodes.ts';
import { NodeSequence } from '../../../src/shard/mint/node-sequence.ts';
import { type NodeSet, nodeSetOf } from '../../../src/shard/mint/node-set.ts';
import { NodeSetConflictError, requireOwnSequence } from '../../../src/shard/mint/node-set-conflict.ts';
import { openSequences } from '../../../src/shard/mint/open-sequences.ts';
import { sequenceStatusOf } from '../../../src/shard/mint/sequence-status.ts';
import type { NodeScriptRunner } from '../../../src/shard/nodes/node-script-runner.ts';
import type { ShardNode } from '../../../src/shard/shard-nodes.ts';
import { EPOCH, errorOf, ModelNodes, SKEW } from './model-nodes.ts';

const NOW = 1_000_000;
const REACH = NOW + 1000 + SKEW;

describe('A node set', () => {
  const of = (names: string[], moved = names) =>
    nodeSetOf({
      nodes: names.map((ringName, i) => ({ ringName, address: moved[i] })),
      epoch: 5,
      maxSkew: 7,
    } as unknown as Parameters<typeof nodeSetOf>[0]);

  it('has a fingerprint that stays the same for ever, because nodes keep it', () => {
    expect(of(['a:1', 'b:2'])).toEqual({
      fingerprint: '8c94be2b3901027bb7f2064529a35de6',
      ...{ nodes: 'a:1, b:2', size: 2, hasMovedNodes: false, epoch: 5, lead: 1000, skew: 7 },
    });
  });

  it('knows whether one of its nodes has another address than its name', () => {
    expect(of(['a:1', 'b:2'], ['a:1', 'c:2'])).toMatchObject({ hasMovedNodes: true, nodes: 'a:1, b:2' });
  });

  it('is named by its nodes, as far as they fit into a message', () => {
    const names = (length: number) => ['a'.repeat(100), 'b'.repeat(length - 102)];
    expect(of(names(200)).nodes).toBe(names(200).join(', '));
    expect(of(names(201)).nodes).toBe(`${names(201).join(', ').slice(0, 197)}... (2 nodes)`);
  });
});

describe('The sequence of a node', () => {
  const SET = {
    ...{ fingerprint: 'f', nodes: 'a, b', size: 3, hasMovedNodes: false, epoch: 5, lead: 1000, skew: 7 },
  } satisfies NodeSet;

  function recording(reply: unknown[], nodeSet: NodeSet = SET) {
    const calls: (string | number)[][] = [];
    const runner = {
      node: { index: 1, address: 'a:1' },
      run: async (operation: string, _: string, ...args: (string | number)[]) => {
        calls.push([operation, ...args]);
        return reply;
      },
    } as unknown as NodeScriptRunner;
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
      ...{ kind: 'wait', ms: 8, proof: { from: 3, now: 100 } },
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
        ...{ kind: 'keys', ms: 50, variant, count: granted, restIn: 9 },
        ...{ span: { first: 10, last: 13 }, proof: { from: 3, now: 100 } },
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
      ...{ whose: 'own', state: 'closed', next: 'n', nodes: 'a, b', generation: 4, high: 30, lost: true },
      ...{ fingerprint: 'f', now: 99, from: 20 },
    };
    expect(await recording(reply).sequence.mint(1, 0, undefined)).toEqual({ kind: 'refused', status });
    expect(await recording(reply).sequence.prepare(1)).toEqual(status);
    expect(sequenceStatusOf(reply.with(6, '0')).lost).toBe(false);
  });
});

describe('Questions to all nodes', () => {
  it('are answered by the error of a silent node, and fail with every other error', async () => {
    const nodes = new ModelNodes(2);
    nodes.silent.add(1);
    const answers = await askNodes(nodes.set([0, 1]), (sequence) => sequence.readStatus());
    expect(answers.map(({ status }) => status instanceof StoreError)).toEqual([false, true]);
    const broken = askNodes(nodes.set([0, 1]), async () => {
      throw new TypeError('broken');
    });
    await expect(broken).rejects.toThrow(TypeError);
  });
});

describe('A sequence that belongs to others', () => {
  const node = { address: 'a:1', name: '0' } as ShardNode;
  const nodeSet = { nodes: 'a:1, b:2' } as NodeSet;
  const base = sequenceStatusOf(['own', 'open', 'next', 'x:1', 1, 0, 0, 'owner', 0, 0]);

  it.each([
    ['foreign', { whose: 'foreign' }, 'mints keys for other nodes or another epoch (x:1)', 'owner'],
    ['foreign and closed', { whose: 'foreign', state: 'closed' }, 'or another epoch (x:1)', 'owner'],
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

describe('Sequences that are opened together', () => {
  let nodes: ModelNodes;
  beforeEach(() => {
    nodes = new ModelNodes(3, NOW);
  });

  it('begin at the same millisecond, that of the clock that is furthest ahead', async () => {
    nodes.clocks[1] = NOW + 30;
    const set = nodes.set([0, 1, 2]);
    const opened = await openSequences(set);
    expect([...opened.keys()]).toEqual(set);
    expect([...opened.values()].map(({ state, from, generation }) => [state, from, generation])).toEqual(
      Array.from({ length: 3 }, () => ['open', REACH + 30, 1]),
    );
    // Nothing is written before all have been read, and nothing is opened before all are prepared.
    expect(nodes.operations()).toEqual(
      ['reading', 'setting up', 'opening'].flatMap((what) =>
        [0, 1, 2].map((i) => `${i} ${what} the sequence`),
      ),
    );
  });

  it('begin beyond what a node may have minted that was started again before it was opened', async () => {
    const set = nodes.set([0, 1, 2]);
    await set[1]!.prepare(1);
    nodes.clocks[1] = NOW + 40;
    nodes.models[1]!.server = 'restarted';
    await openSequences(set);
    expect([0, 1, 2].map((i) => nodes.hash(i)!.from)).toEqual(Array.from({ length: 3 }, () => REACH + 40));
  });

  it('begin with the generation of those that are there, and beyond their beginning', async () => {
    const set = nodes.set([0, 1, 2]);
    await openSequences(set);
    nodes.change(1, { generation: 4, from: REACH + 5000, ms: REACH + 5100 });
    nodes.models[2]!.hash = undefined;
    await openSequences(set);
    expect(nodes.hash(2)).toMatchObject({ state: 'open', generation: 4, from: REACH + 5000 });
    expect(nodes.hash(0)).toMatchObject({ generation: 1, from: REACH });
  });

  it('do not count what belongs to others: nothing is written where one of them does', async () => {
    await openSequences(nodes.set([2]));
    nodes.operations();
    const error = await errorOf(openSequences(nodes.set([0, 1, 2])));
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(nodes.operations()).toEqual([0, 1, 2].map((i) => `${i} reading the sequence`));
    expect([nodes.hash(0), nodes.hash(1)]).toEqual([undefined, undefined]);
  });

  it('are withdrawn where others came at the same time', async () => {
    let isFirst = true;
    nodes.onQuestion = async ({ number, operation }) => {
      // The answer to a withdrawal takes its time.
      if (!isFirst) for (let turn = 0; turn < 20; turn++) await null;
      if (number !== 2 || operation !== 'setting up the sequence' || !isFirst) return;
      isFirst = false;
      await nodes.set([2]).at(0)!.prepare(1);
    };
    const error = await errorOf(openSequences(nodes.set([0, 1, 2])));
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect([nodes.hash(0), nodes.hash(1)]).toEqual([undefined, undefined]);
    expect(nodes.hash(2)).toMatchObject({ state: 'pending' });
  });

  it('are refused where others were quicker at the last step', async () => {
    nodes.onQuestion = ({ number, operation }) => {
      if (number === 2 && operation === 'opening the sequence') nodes.change(2, { ring: 'other' });
    };
    expect(await errorOf(openSequences(nodes.set([0, 1, 2])))).toBeInstanceOf(NodeSetConflictError);
  });

  it('need all nodes once, and name those that are silent', async () => {
    nodes.silent.add(0).add(2);
    const error = await errorOf(openSequences(nodes.set([0, 1, 2])));
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toBe(
      'node 10.0.0.0:6379, 10.0.0.2:6379 does not answer, and these nodes have not minted together before: all nodes are ' +
        'needed once. node 10.0.0.0:6379 is silent',
    );
    expect((error.cause as Error).message).toBe('node 10.0.0.0:6379 is silent');
    expect(nodes.hash(1)).toBeUndefined();
  });

  it('need one that was open all the time, if another one is silent', async () => {
    const set = nodes.set([0, 1, 2]);
    await openSequences(set);
    nodes.silent.add(0);
    nodes.models[1]!.hash = undefined;
    const opened = await openSequences(set);
    expect([...opened.keys()]).toEqual(set.slice(1));
    expect(nodes.hash(1)).toMatchObject({ state: 'open', generation: 1, from: REACH });
    // The silent one is asked once, and not waited for again.
    expect(nodes.operations().filter((line) => line.startsWith('0 '))).toHaveLength(3 + 1);
    // A node that was started again is no witness.
    for (const i of [1, 2]) nodes.models[i]!.server = `restarted ${i}`;
    const error = await errorOf(openSequences(set));
    expect(error.message).toContain('the other nodes were started again, so none of them can tell');
    // Neither is one whose sequence is only prepared.
    for (const i of [1, 2]) nodes.change(i, { state: 'pending', server: nodes.models[i]!.server });
    expect((await errorOf(openSequences(set))).message).toContain('have not minted together before');
  });

  it('need the witness until they are opened', async () => {
    const set = nodes.set([0, 1]);
    await openSequences(set);
    nodes.silent.add(0);
    nodes.onQuestion = ({ operation }) => {
      if (operation === 'setting up the sequence') nodes.models[1]!.server = 'restarted';
    };
    expect(await errorOf(openSequences(set))).toBeInstanceOf(StoreError);
  });

  it('leave out a node that fell silent at the last step', async () => {
    nodes.onQuestion = ({ number, operation }) => {
      if (number === 2 && operation === 'opening the sequence') nodes.silent.add(2);
    };
    const set = nodes.set([0, 1, 2]);
    expect([...(await openSequences(set)).keys()]).toEqual(set.slice(0, 2));
  });

  it('count from the epoch of their map', () => {
    expect(nodes.set([0])[0]!.nodeSet).toMatchObject({ epoch: EPOCH, skew: SKEW });
  });
});
