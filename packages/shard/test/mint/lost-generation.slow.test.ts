import { abortReshard, planReshard, reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { handOver } from '../../src/mint/handover.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { mintOnAll, positionOf, ringOf, type Shards, startShards } from '../start-shards.ts';

const SEQUENCE = '$equence';

await describeWith(['redis'], 'Nodes that have forgotten how often minting was handed over', () => {
  let shards: Shards;
  let [a, b, c, d] = [] as unknown as [RedisServer, RedisServer, RedisServer, RedisServer];
  const maps: ShardMap[] = [];

  beforeEach(async () => {
    shards = await startShards([1, 1, 1, 1], {}, { persistence: 'aof' });
    [a, b, c, d] = shards.servers as [RedisServer, RedisServer, RedisServer, RedisServer];
  });

  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await shards.stop();
  });

  function start(...servers: RedisServer[]): ShardMap {
    const config: ShardConfig = { ...ringOf(servers), options: shards.config.options! };
    const map = new ShardMap(config);
    maps.push(map);
    return map;
  }

  const nameOf = ({ port }: RedisServer) => `127.0.0.1:${port}`;
  const sequences = () => Promise.all([a, b, c, d].map((server) => server.command('HGETALL', SEQUENCE)));

  /** Mints on {d}, then on {a, b, c} and then on {a}: generations 1, 2 and 3. */
  async function threeGenerations(): Promise<string[]> {
    const keys = await start(d).genKeys('user', 5000);
    await handOver(start(d).sequences, start(a, b, c).sequences);
    keys.push(...(await mintOnAll(start(a, b, c))));
    await reshard(start(a, b, c), start(a));
    return [...keys, ...(await start(a).genKeys('user', 5000))];
  }

  async function expectUniqueWith(keys: readonly string[], ...servers: RedisServer[]): Promise<void> {
    const later = [
      ...(await mintOnAll(start(...servers))),
      ...(await start(...servers).genKeys('user', 5000)),
    ];
    expect(repeated([...keys, ...later].map(positionOf))).toEqual([]);
  }

  it.each([
    ['before it minted again', false],
    ['and minted again', true],
  ])('hand it over when the operator names them: the node was emptied %s', async (_, mintsAgain) => {
    const keys = await threeGenerations();
    await a.restart({ empty: true });
    if (mintsAgain) keys.push(...(await start(a).genKeys('user', 5000)));
    const before = await sequences();
    for (const run of [planReshard, reshard]) {
      const refused = await run(start(a), start(a, b, c)).catch((error) => error);
      expect(refused).toBeInstanceOf(NodeSetConflictError);
      expect(refused.message).toContain(`(--accept-older ${nameOf(a)})`);
    }
    expect(await sequences()).toEqual(before);
    const options = { acceptOlder: [nameOf(a)] };
    await planReshard(start(a), start(a, b, c), options);
    await reshard(start(a), start(a, b, c), options);
    await expectUniqueWith(keys, a, b, c);
    await expect(start(a).genKey()).rejects.toBeInstanceOf(NodeSetConflictError);
  });

  it('hand it over where an earlier version was refused in the middle', async () => {
    const keys = await threeGenerations();
    await a.restart({ empty: true });
    // That version closed the old node and opened it for the new set, and was then refused by the others.
    const [old, next] = [start(a).sequences[0]!, start(a, b, c).sequences[0]!];
    const { high } = await old.close(next.nodeSet.fingerprint, 1);
    expect(await next.adopt(high, 2)).toMatchObject({ whose: 'own', state: 'open' });
    await expect(start(a, b, c).genKey()).rejects.toThrow('no longer mints');
    await reshard(start(a), start(a, b, c), { acceptOlder: [nameOf(a)] });
    await expectUniqueWith(keys, a, b, c);
  });

  it('hand it over to nodes of which they have none', async () => {
    const keys = await start(d).genKeys('user', 5000);
    await reshard(start(d), start(b, c));
    keys.push(...(await mintOnAll(start(b, c))));
    await reshard(start(b, c), start(a));
    keys.push(...(await start(a).genKeys('user', 5000)));
    await a.restart({ empty: true });
    await expect(reshard(start(a), start(b, c))).rejects.toThrow('Nothing was changed');
    await reshard(start(a), start(b, c), { acceptOlder: [nameOf(a)] });
    await expectUniqueWith(keys, b, c);
  });

  it('hand it back when the resharding to them is given up', async () => {
    const keys = await start(d).genKeys('user', 5000);
    await handOver(start(d).sequences, start(a, b).sequences);
    keys.push(...(await mintOnAll(start(a, b))));
    const controller = new AbortController();
    const [from, to] = [start(a, b), start(c)];
    for (const key of keys.slice(0, 50)) await from.getClient(key).set(key, key);
    const onProgress = () => controller.abort(new Error('enough'));
    await expect(reshard(from, to, { batch: 5, signal: controller.signal, onProgress })).rejects.toThrow(
      'enough',
    );
    await c.restart({ empty: true });
    await abortReshard(start(a, b), start(c), { acceptOlder: [nameOf(c)] });
    await expectUniqueWith(keys, a, b);
  });

  it('do not hand it over when all of them have to be named, and one is not', async () => {
    await start(d).genKey();
    await handOver(start(d).sequences, start(c).sequences);
    await handOver(start(c).sequences, start(a, b).sequences);
    await Promise.all([a.command('FLUSHALL'), b.command('FLUSHALL')]);
    const run = (acceptOlder: string[]) =>
      handOver(start(a, b).sequences, start(c).sequences, { acceptOlder });
    await expect(run([nameOf(a)])).rejects.toThrow(`(--accept-older ${nameOf(a)},${nameOf(b)})`);
    await run([nameOf(a), nameOf(b)]);
    expect(await start(c).genKeys('user', 3)).toHaveLength(3);
  });

  it('do not take it back with an outdated config, also when they are named', async () => {
    await start(a).genKey();
    await handOver(start(a).sequences, start(a, b).sequences);
    await handOver(start(a, b).sequences, start(c).sequences);
    await start(c).genKey();
    const before = await sequences();
    const options = { acceptOlder: [nameOf(a)] };
    const refused = await handOver(start(a).sequences, start(a, b).sequences, options).catch(
      (error) => error,
    );
    expect(refused).toBeInstanceOf(NodeSetConflictError);
    expect(refused.message).toContain('these configs are outdated');
    expect(refused.message).not.toContain('acceptOlder');
    expect(await sequences()).toEqual(before);
    expect(await start(c).genKeys('user', 3)).toHaveLength(3);
  });

  it.each([
    ['they know that it has left them', async () => {}],
    ['they have lost everything, and the others gave it to somebody else', () => a.command('FLUSHALL')],
  ])('do not take it back when they are named: %s', async (_, lose) => {
    await start(a).genKey();
    await handOver(start(a).sequences, start(b).sequences);
    await handOver(start(b).sequences, start(c).sequences);
    await lose();
    const before = await sequences();
    const options = { acceptOlder: [nameOf(a)] };
    for (const run of [planReshard, reshard])
      await expect(run(start(a), start(b), options)).rejects.toThrow(
        /these configs are outdated.*reshard to servers that have never minted$/,
      );
    expect(await sequences()).toEqual(before);
    expect(await start(c).genKeys('user', 3)).toHaveLength(3);
  });
});
