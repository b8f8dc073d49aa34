import { beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import { askNodes, NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { openSequences } from '../../src/mint/open-sequences.ts';
import { EPOCH, errorOf, ModelNodes, SKEW } from './model-nodes.ts';

const NOW = 1_000_000;
const REACH = NOW + 1000 + SKEW;

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
    for (const status of opened.values())
      expect(status).toMatchObject({ state: 'open', from: REACH + 30, generation: 1 });
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
    expect(opened.get(set[0]!)).toBeInstanceOf(StoreError);
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

  it.each(['setting up', 'opening'])('tell the error of a node that fails at %s', async (what) => {
    const set = nodes.set([0, 1, 2]);
    await openSequences(set);
    nodes.models[2]!.hash = undefined;
    nodes.onQuestion = ({ number, operation }) => {
      if (number === 2 && operation === `${what} the sequence`) nodes.silent.add(2);
    };
    const opened = await openSequences(set);
    for (const sequence of set.slice(0, 2)) expect(opened.get(sequence)).toMatchObject({ state: 'open' });
    expect(opened.get(set[2]!)).toBeInstanceOf(StoreError);
  });

  it('count from the epoch of their map', () => {
    expect(nodes.set([0])[0]!.nodeSet).toMatchObject({ epoch: EPOCH, skew: SKEW });
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
