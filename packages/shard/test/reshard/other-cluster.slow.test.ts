import { abortReshard, planReshard, reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisCluster, startRedisCluster } from '#services';
import { RingAndCluster } from './ring-and-cluster.ts';

await describeWith(['redis'], 'A resharding that has begun with one Redis Cluster', () => {
  let both: RingAndCluster;
  let other: RedisCluster;
  let otherClient: Cluster;
  let keys: string[];
  const maps: ShardMap[] = [];

  beforeAll(async () => {
    [both, other] = await Promise.all([RingAndCluster.start(), startRedisCluster()]);
    otherClient = new Cluster(other.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
  });
  beforeEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await both.empty();
    await Promise.all(other.masters.map((master) => master.command('FLUSHALL')));
    const [from] = both.maps();
    keys = Array.from({ length: 100 }, (_, i) => from.fixedKey(1000 + i, i, 2));
    for (const key of keys) await from.getClient(key).set(key, key);
  });
  afterAll(async () => {
    await Promise.all(maps.map((map) => map.close()));
    otherClient?.disconnect();
    await Promise.all([both?.stop(), other?.stop()]);
  });

  const wrongConfigs = () => [both.configs[0], { ...both.configs[1], cluster: otherClient }] as const;
  const wrongMaps = () => {
    const made = wrongConfigs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    maps.push(...made);
    return made;
  };

  async function moveSome(): Promise<void> {
    const afterStep = (step: string) => {
      if (step === 'settled') throw new Error('killed');
    };
    const error = await reshard(...both.maps(), { batch: 10, afterStep } as object).catch((error) => error);
    expect(error.message).toBe('killed');
  }

  /** The error names the nodes of both clusters. */
  function expectRefusal(error: unknown): void {
    expect(error).toBeInstanceOf(StoreError);
    const { message } = error as Error;
    expect(message).toContain('has begun with the Redis Cluster of 127.0.0.1:');
    for (const { port } of [...both.cluster.masters, ...other.masters])
      expect(message).toContain(String(port));
    expect(message).not.toContain('accept');
  }

  it('is not continued, given up or used with another one, and nothing is changed', async () => {
    await moveSome();
    const before = await both.keysOf(both.ring.servers);
    for (const run of [planReshard, reshard, abortReshard])
      expectRefusal(await run(...wrongMaps()).catch((error) => error));
    const map = new TransitionMap(...wrongConfigs());
    maps.push(map);
    for (const key of keys.slice(0, 5))
      expectRefusal(
        await map
          .getClient(key)
          .get(key)
          .catch((error: unknown) => error),
      );
    expect(await both.keysOf(both.ring.servers)).toEqual(before);
    expect(await both.keysOf(other.masters)).toEqual([]);
    await reshard(...both.maps());
    const after = new TransitionMap(...wrongConfigs());
    maps.push(after);
    expectRefusal(
      await after
        .getClient(keys[0]!)
        .get(keys[0])
        .catch((error: unknown) => error),
    );
    const [, to] = both.maps();
    for (const key of keys) expect(await to.getClient(key).get(key)).toBe(key);
  });

  it('may begin with another one after it was given up', async () => {
    await moveSome();
    await abortReshard(...both.maps());
    expect(await reshard(...wrongMaps())).toMatchObject({ moved: keys.length });
    for (const key of keys) expect(await otherClient.get(key)).toBe(key);
  });

  it('is continued with the same one after it has lost its state, if that is accepted', async () => {
    await moveSome();
    await both.client.del('idsmith:reshard');
    const error = await reshard(...both.maps()).catch((error) => error);
    expect(error.message).toContain('--accept-older cluster');
    expectRefusal(await reshard(...wrongMaps(), { acceptOlder: ['cluster'] }).catch((error) => error));
    await reshard(...both.maps(), { acceptOlder: ['cluster'] });
    for (const key of keys) expect(await both.client.get(key)).toBe(key);
  });
});
