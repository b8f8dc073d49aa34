import { describe, expect, it } from 'vitest';
import { handOver } from '../../../src/shard/mint/handover.ts';
import type { NodeSequence } from '../../../src/shard/mint/node-sequence.ts';
import { NodeSetConflictError } from '../../../src/shard/mint/node-set-conflict.ts';
import { openSequences } from '../../../src/shard/mint/open-sequences.ts';
import { errorOf, ModelNodes } from './model-nodes.ts';

/** Minting goes from a to b and on to c, b is emptied, and somebody hands it over from b to a with the configs of before. */
describe('Outdated configs', () => {
  async function handOverByMistake(isFirst: boolean): Promise<{ error: Error; c: NodeSequence[] }> {
    const nodes = new ModelNodes(4);
    const [a, b, c, d] = [nodes.set([0]), nodes.set([1]), nodes.set([2]), nodes.set([3])];
    await openSequences(isFirst ? a : d);
    if (!isFirst) await handOver(d, a);
    await handOver(a, b);
    await handOver(b, c);
    const model = nodes.models[1];
    if (model) model.hash = undefined;
    return { error: await errorOf(handOver(b, a)), c };
  }

  it('hand nothing over to nodes that took over before', async () => {
    const { error } = await handOverByMistake(false);
    expect(error).toBeInstanceOf(NodeSetConflictError);
    expect(error.message).toContain('these configs are outdated');
  });

  it('hand nothing over to nodes that were the first to mint', async () => {
    const { error } = await handOverByMistake(true);
    expect(error).toBeInstanceOf(NodeSetConflictError);
  });
});
