import { describe, expect, it } from 'vitest';
import { handOver } from '../../../src/shard/mint/handover.ts';
import { NodeSetConflictError } from '../../../src/shard/mint/node-set-conflict.ts';
import { openSequences } from '../../../src/shard/mint/open-sequences.ts';
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
