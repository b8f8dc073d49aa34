import { planReshard, reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidIdError, InvalidOptionError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';

const shards = { 0: ['63700', '127.0.0.1', 1], 1: ['63701', '127.0.0.1', 2] } as const;
const make = (config: unknown) => new ShardMap(config as ShardConfig);
const withOptions = (options: object) => make({ shards, options });
const KEY = '1jyVFw3401';

describe('A config', () => {
  it.each([
    ['shards', () => make({ shards: 5 }), /^shards must be an object of \[port, host, weight\], not 5/],
    ['shards', () => make({ shards: null }), /^shards must be an object .*null/],
    ['the types', () => withOptions({ keyTypes: 5 }), /^keyTypes must be an object, not 5/],
    ['the types', () => withOptions({ keyTypes: null }), /^keyTypes must be an object, not null/],
    ['the special keys', () => withOptions({ specialKeys: 5 }), /^specialKeys must be an object, not 5/],
    ['the short names', () => withOptions({ subKeys: 'n' }), /^subKeys must be an object, not "n"/],
    ['hash tags', () => make({ cluster: {}, hashTags: 'yes' }), /^cluster\.nodes/],
    ['takesOver', () => make({ shards, takesOver: 1 }), /^takesOver must be true or false, not 1/],
    ['hash tags', () => make({ shards, hashTags: 'yes' }), /^hashTags must be true or false, not "yes"/],
    ['Sentinels', () => make({ shards: { 7: { sentinel: 5 } } }), /^shards\.7\.sentinel must be an object/],
    ['a node', () => make({ shards: { 7: 'redis:///2' } }), /^shards\.7 must be a URL with a host/],
  ])('with %s of another type is refused, and the entry named', (_, construct, message) => {
    expect(construct).toThrow(InvalidOptionError);
    expect(construct).toThrow(message);
  });

  it.each([
    ['a type', (map: ShardMap) => map.addKeyType('', 7), /^the name of a type must be text, not ""/],
    [
      'a special key',
      (map: ShardMap) => map.addSpecialKey('', [1, '$DEF']),
      /^the name of a special key .*""/,
    ],
    ['a suffix', (map: ShardMap) => map.fixedKey(1, 1, 1, 5 as never), /^suffix must be text, not 5/],
  ])('cannot be given %s without a name afterwards', (_, change, message) => {
    const map = make({ shards });
    const before = { ...map.keyTypes, ...map.specialKeys };
    expect(() => change(map)).toThrow(InvalidOptionError);
    expect(() => change(map)).toThrow(message);
    expect({ ...map.keyTypes, ...map.specialKeys }).toEqual(before);
  });
});

describe('A map', () => {
  it('has no client for a node of another map', () => {
    const [map, other] = [make({ shards }), make({ shards })];
    expect(() => map.clientOf(other.nodes[0]!)).toThrow(InvalidOptionError);
    expect(() => map.clientOf(other.nodes[0]!)).toThrow(/^node must be one of the nodes of this map/);
  });

  it.each([
    ['gone', { gone: '127.0.0.1:63700' }],
    ['acceptOlder', { acceptOlder: 5 }],
  ])('is not resharded with %s that is no list', async (option, options) => {
    const [from, to] = [make({ shards }), make({ shards: { 0: shards[0] } })];
    for (const run of [planReshard, reshard]) {
      const error = await run(from, to, options as never).catch((error) => error);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error.message).toMatch(new RegExp(`^${option} must be a list of names of nodes, not `));
    }
  });

  it('finds no key in bytes', () => {
    expect(() => make({ shards }).whereIs(Buffer.from(KEY) as never)).toThrow(InvalidIdError);
  });

  it.each([
    [
      'Sentinels',
      { shards: { 0: { sentinel: { master: 'm', nodes: [['26379', '127.0.0.1']] }, ringName: 'a' } } },
    ],
    ['the nodes of a Redis Cluster', { cluster: { nodes: ['redis://127.0.0.1:7000'] } }],
  ])('with %s needs ioredis, and tells so', (_, config) => {
    const map = make({ ...config, driver: 'redis' });
    expect(() => map.getClient(KEY)).toThrow(StoreError);
    expect(() => map.getClient(KEY)).toThrow(/npm install ioredis/);
  });

  it('tells of a failed node once to a listener for the next failure', async () => {
    const map = make({ shards: { 0: ['1', '127.0.0.1', 1] } });
    const heard = { once: 0, always: 0 };
    map.once('node-failed', () => heard.once++).on('node-failed', () => heard.always++);
    for (let i = 0; i < 2; i++) await expect(map.genKey()).rejects.toBeInstanceOf(StoreError);
    await map.close();
    expect(heard.once).toBe(1);
    expect(heard.always).toBeGreaterThan(1);
  });
});
