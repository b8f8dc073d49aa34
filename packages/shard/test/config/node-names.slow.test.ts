import { HashRing, planReshard, type ShardConfig, type ShardEntry, ShardMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { readConfig } from '../../src/config/config.ts';
import { nodeSetOf } from '../../src/config/node-set.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { mintOnAll, positionOf, type Shards, startShards } from '../start-shards.ts';

describe('The name of a node', () => {
  const keys = Array.from({ length: 2000 }, (_, i) =>
    new ShardMap({ shards: { 0: [1, 'h'] } }).fixedKey(i, i, 1),
  );

  it('is the one in the config, and its address is host:port', () => {
    const map = new ShardMap({ shards: { east: ['6379', '10.0.0.1'], west: ['6379', '10.0.0.2'] } });
    const ring = new HashRing({ '10.0.0.1:6379': 1, '10.0.0.2:6379': 1 });
    for (const key of keys) {
      expect(map.addressOf(key)).toBe(ring.nodeOf(key));
      expect(map.whereIs(key)).toBe(map.addressOf(key) === '10.0.0.1:6379' ? 'east' : 'west');
    }
  });

  it('stays, and so do all keys, when the server has another address and the entry its old ringName', () => {
    const before = new ShardMap({ shards: { 0: ['6379', '10.0.0.1', 2], 1: ['6379', '10.0.0.2', 3] } });
    const after = new ShardMap({
      shards: {
        0: { port: 6380, host: '10.9.9.9', weight: 2, ringName: '10.0.0.1:6379' },
        1: ['6379', '10.0.0.2', 3],
      },
    });
    for (const key of keys) expect(after.whereIs(key)).toBe(before.whereIs(key));
    expect(new Set(keys.map((key) => after.addressOf(key)))).toEqual(
      new Set(['10.9.9.9:6380', '10.0.0.2:6379']),
    );
  });

  it('belongs to its own server, whatever order an object gives to the names on the ring', () => {
    const ringNames = { a: '10', b: 'x', c: '2', d: '7' };
    const shards = Object.fromEntries(
      Object.entries(ringNames).map(([name, ringName], i) => [
        name,
        { port: i + 1, host: 'h', ringName, weight: i + 1 },
      ]),
    );
    const map = new ShardMap({ shards });
    const ring = new HashRing({ 10: 1, x: 2, 2: 3, 7: 4 });
    for (const key of keys) expect(ringNames[map.whereIs(key) as 'a']).toBe(ring.nodeOf(key));
  });

  it('does not count for minting: old and new versions have the same fingerprint for the same nodes', () => {
    // The value comes from version 0.1.0, whose nodes had no names on the ring but their addresses.
    const shards = { a: ['6379', '10.0.0.1', 1], b: ['6379', '10.0.0.2', 2] } as const;
    expect(nodeSetOf(readConfig({ shards })).fingerprint).toBe('52e82c7c9cc66409bcacbd67561457c4');
  });
});

await describeWith(['redis'], 'A node with another address', () => {
  let shards: Shards;
  let [a, b, c] = [] as unknown as [RedisServer, RedisServer, RedisServer];
  const maps: ShardMap[] = [];

  beforeEach(async () => {
    shards = await startShards([1, 1, 1]);
    [a, b, c] = shards.servers as [RedisServer, RedisServer, RedisServer];
  });

  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await shards.stop();
  });

  const at = ({ port }: RedisServer, ringName?: string): ShardEntry => ({
    port,
    host: '127.0.0.1',
    ...(ringName !== undefined && { ringName }),
  });

  function start(...entries: ShardEntry[]): ShardMap {
    const config: ShardConfig = {
      shards: Object.fromEntries(entries.entries()),
      options: shards.config.options!,
    };
    const map = new ShardMap(config);
    maps.push(map);
    return map;
  }

  const addressOf = ({ port }: RedisServer) => `127.0.0.1:${port}`;

  it('keeps its keys and goes on minting, without a repetition', async () => {
    const before = start(at(a), at(b));
    const keys = [...(await mintOnAll(before)), ...(await before.genKeys('user', 200))];
    const written = keys.slice(-200);
    for (const key of written) await before.getClient(key).set(key, before.whereIs(key));
    await c.command('REPLICAOF', '127.0.0.1', a.port);
    await expect.poll(() => c.command('INFO', 'replication')).toContain('master_link_status:up');
    // The old server becomes a replica of the new one, so that processes with the old address cannot write.
    await c.command('REPLICAOF', 'NO', 'ONE');
    await a.command('REPLICAOF', '127.0.0.1', c.port);
    const after = start(at(c, addressOf(a)), at(b));
    const more = await mintOnAll(after);
    for (const key of written) expect(await after.getClient(key).get(key)).toBe(before.whereIs(key));
    expect(after.addressOf(written.find((key) => after.whereIs(key) === '0')!)).toBe(addressOf(c));
    // A process that still has the old address gets keys from the other node only.
    const late = await before.genKeys('user', 100);
    expect(before.virtualShardOf(late[0]!)).toBe(1);
    expect(repeated([...keys, ...more, ...late].map(positionOf))).toEqual([]);
  });

  it('and no ringName is refused, with the way out', async () => {
    await start(at(a), at(b)).genKey();
    const refused = await start(at(c), at(b))
      .genKey()
      .catch((error) => error);
    expect(refused).toBeInstanceOf(NodeSetConflictError);
    expect(refused.message).toContain('give the entry the old address as ringName');
    expect(refused.message).toContain(`(${addressOf(a)}, ${addressOf(b)})`);
  });

  it.each([
    ['exchanged', () => start(at(b, addressOf(a)), at(a, addressOf(b)))],
    ['shifted', () => start(at(c, addressOf(a)), at(a, addressOf(b)))],
    ['shifted the other way', () => start(at(b, addressOf(a)), at(c, addressOf(b)))],
  ])('mints nothing where addresses were %s', async (_, wrong) => {
    const right = start(at(a), at(b));
    const keys = await mintOnAll(right);
    const refused = await wrong()
      .genKeys('user', 100)
      .catch((error) => error);
    expect(refused).toBeInstanceOf(NodeSetConflictError);
    expect(refused.message).toMatch(/is not shards\.[01], but another node .* mixed up/);
    expect(await c.command('EXISTS', '$equence')).toBe('0');
    keys.push(...(await mintOnAll(right)));
    expect(repeated(keys.map(positionOf))).toEqual([]);
  });

  it('and the sequence of an older version goes on', async () => {
    const map = start(at(a), at(b));
    const keys = await mintOnAll(map);
    // Older versions wrote no index, and checked none.
    for (const server of [a, b]) expect(await server.command('HDEL', '$equence', 'index')).toBe('1');
    keys.push(...(await mintOnAll(map)), ...(await mintOnAll(start(at(a), at(b)))));
    expect(await a.command('HGET', '$equence', 'index')).toBe('0');
    expect(await b.command('HGET', '$equence', 'index')).toBe('1');
    expect(repeated(keys.map(positionOf))).toEqual([]);
  });

  it('is no target of a resharding from its old address: two servers would be one node', async () => {
    const [from, to] = [start(at(a), at(b)), start(at(c, addressOf(a)), at(b))];
    const refused = await planReshard(from, to).catch((error) => error);
    expect(refused).toBeInstanceOf(InvalidOptionError);
    expect(refused.message).toContain(`shards.0 is ${addressOf(a)} in from and ${addressOf(c)} in to`);
  });
});
