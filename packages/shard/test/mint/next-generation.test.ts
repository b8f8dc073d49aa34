import { describe, expect, it } from 'vitest';
import { handOver } from '../../src/mint/handover.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { openSequences } from '../../src/mint/open-sequences.ts';
import { errorOf, ModelNodes } from './model-nodes.ts';

/** Nodes of which node 2 has handed minting over in generation 1, to a node set without it. */
async function withOldNode(): Promise<ModelNodes> {
  const nodes = new ModelNodes(6);
  const former = nodes.set([2, 3]);
  await openSequences(former);
  await handOver(former, nodes.set([3, 4]));
  return nodes;
}

describe('A new node that has handed minting over', () => {
  it('is refused if the old nodes know of no later generation', async () => {
    const nodes = await withOldNode();
    const old = nodes.set([0, 1]);
    await openSequences(old);
    const error = await errorOf(handOver(old, nodes.set([1, 2])));
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain(
      `node ${ModelNodes.addressOf(2)} has handed minting over in generation 1, and`,
    );
    expect(error.message).toContain('knows no generation after 1');
  });

  it('is taken if they do', async () => {
    const nodes = await withOldNode();
    const [first, old] = [nodes.set([0]), nodes.set([0, 1])];
    await openSequences(first);
    await handOver(first, old);
    await handOver(old, nodes.set([1, 2]));
    expect(nodes.hash(2)).toMatchObject({ state: 'open' });
  });
});

/** Minting goes from a to b and on to c, b is emptied, and somebody hands it over from b to a with the configs of before. */
describe('Outdated configs', () => {
  async function handOverByMistake(isFirst: boolean): Promise<Error> {
    const nodes = new ModelNodes(4);
    const [a, b, c, d] = [nodes.set([0]), nodes.set([1]), nodes.set([2]), nodes.set([3])];
    await openSequences(isFirst ? a : d);
    if (!isFirst) await handOver(d, a);
    await handOver(a, b);
    await handOver(b, c);
    nodes.models[1]!.hash = undefined;
    return errorOf(handOver(b, a));
  }

  it('hand nothing over to nodes that took over before', async () => {
    const error = await handOverByMistake(false);
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain('these configs are outdated');
  });

  it('hand nothing over to nodes that were the first to mint', async () => {
    const error = await handOverByMistake(true);
    expect(error).toBeInstanceOf(NodeSetConflictError);
  });
});
