import { ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { handOver } from '../../src/mint/handover.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { positionOf, ringOf, type Shards, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'Minting that is taken back from nodes which are all lost', () => {
  let shards: Shards;
  const maps: ShardMap[] = [];
  beforeAll(async () => {
    shards = await startShards([1, 1, 1, 1]);
  });
  afterAll(async () => {
    await Promise.all(maps.map((map) => map.close()));
    await shards?.stop();
  });

  function mapOn(...indexes: number[]): ShardMap {
    const servers = indexes.map((index) => shards.servers[index]!);
    const map = new ShardMap({ ...ringOf(servers), options: shards.config.options! });
    maps.push(map);
    return map;
  }

  it('is refused while other nodes have it than those that are said to be lost, and changes nothing', async () => {
    const [first, second, third] = [mapOn(0, 1), mapOn(2), mapOn(3)];
    const keys = await first.genKeys('user', 1000);
    await handOver(first.sequences, second.sequences);
    keys.push(...(await second.genKeys('user', 1000)));
    const statuses = () => Promise.all(first.sequences.map((sequence) => sequence.readStatus()));
    const [before] = await statuses();

    const gone = third.nodes.map(({ address }) => address);
    const refused = await handOver(third.sequences, first.sequences, { gone }).catch((error) => error);
    expect(refused).toBeInstanceOf(NodeSetConflictError);
    expect(refused.message).toContain(
      `node ${first.nodes[0]!.address} has handed minting over to other nodes`,
    );
    expect(refused.next).toBe(second.sequences[0]!.nodeSet.fingerprint);
    for (const { state, next, generation } of await statuses())
      expect([state, next, generation]).toEqual(['closed', refused.next, before!.generation]);
    await expect(first.genKey()).rejects.toBeInstanceOf(NodeSetConflictError);
    keys.push(...(await second.genKeys('user', 1000)));

    await shards.servers[2]!.kill();
    const lost = second.nodes.map(({ address }) => address);
    await handOver(second.sequences, first.sequences, { gone: lost });
    keys.push(...(await first.genKeys('user', 1000)));
    expect(repeated(keys.map(positionOf))).toEqual([]);
  });
});
