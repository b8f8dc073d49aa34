import { planReshard, reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { README_OPTIONS } from '../start-shards.ts';

const shards = { 0: ['63700', '127.0.0.1', 1], 1: ['63700', '127.0.0.2', 2] } as const;
const make = (config: unknown) => () => new ShardMap(config as ShardConfig);
const withOptions = (options: object) => make({ shards, options: { ...README_OPTIONS, ...options } });
const withAuth = (auth: unknown) => make({ shards, auth });

describe('A config', () => {
  it('of the readme of Shardjs is taken as it is', () => {
    const map = new ShardMap({
      shards: {
        0: ['63700', '127.0.0.1', 1],
        1: ['63700', '127.0.0.2', 2],
        2: ['63701', '127.0.0.1', 1],
        3: ['63701', '127.0.0.2', 4],
      },
      auth: { password: 'secret' },
      options: README_OPTIONS,
    });
    expect(map.nodes.map(({ name, index, address, weight }) => [name, index, address, weight])).toEqual([
      ['0', 0, '127.0.0.1:63700', 1],
      ['1', 1, '127.0.0.2:63700', 2],
      ['2', 2, '127.0.0.1:63701', 1],
      ['3', 3, '127.0.0.2:63701', 4],
    ]);
    expect(map.specialKeys.emails).toBe('020000-emails');
  });

  it.each(['user', 'username', 'userid'])('may name its user as %s', (name) => {
    expect(withAuth({ [name]: 'app', password: 'secret' })).not.toThrow();
    expect(withAuth({ [name]: 'app' })).toThrow(`auth.password is missing: auth.${name} needs one`);
    expect(withAuth({ [name]: 5, password: 'secret' })).toThrow(`auth.${name} must be text`);
  });

  it('refuses two users', () => {
    expect(withAuth({ user: 'a', userid: 'b', password: 'c' })).toThrow(
      'auth.user is "a" and auth.userid is "b": give only one of them',
    );
  });

  it('may have its nodes by the names of their parts', () => {
    const map = new ShardMap({ shards: { a: { port: '1', host: 'h', weight: '3' }, b: [2, 'h'] } });
    expect(map.nodes).toEqual([
      { name: 'a', index: 0, address: 'h:1', host: 'h', port: 1, weight: 3, ringName: 'h:1' },
      { name: 'b', index: 1, address: 'h:2', host: 'h', port: 2, weight: 1, ringName: 'h:2' },
    ]);
  });

  it('may have its ports as numbers, its weights as digits, and leave a weight of 1 out', () => {
    const map = new ShardMap({ shards: { a: [1, 'h'], b: [2, 'h', '3'] } });
    expect(map.nodes.map(({ port, weight }) => [port, weight])).toEqual([
      [1, 1],
      [2, 3],
    ]);
  });

  it.each([
    ['no object', make(undefined), /^config .*undefined/],
    ['neither shards nor a cluster', make({}), /either shards or a cluster/],
    ['both', make({ shards, cluster: {} }), /either shards or a cluster/],
    ['no node', make({ shards: {} }), /^shards .* 0/],
    ['more than 3844 nodes', make({ shards: new Array(3845).fill(shards[0]) }), /^shards .*3845/],
    ['a node that is no list', make({ shards: { 7: 6379 } }), /^shards\.7 .*6379/],
    ['weight 0', make({ shards: { 7: ['1', 'h', 0] } }), /weight of shards\.7 .* not 0/],
    ['a negative weight', make({ shards: { 7: ['1', 'h', -2] } }), /weight of shards\.7 .* not -2/],
    ['a broken weight', make({ shards: { 7: ['1', 'h', 0.5] } }), /weight of shards\.7 .* not 0\.5/],
    ['port 0', make({ shards: { 7: ['0', 'h', 1] } }), /port of shards\.7 .* not 0/],
    ['no port', make({ shards: { 7: ['redis', 'h', 1] } }), /port of shards\.7 .*"redis"/],
    ['no host', make({ shards: { 7: ['1', '', 1] } }), /host of shards\.7 .*""/],
    [
      'two nodes with one address',
      make({ shards: { 7: ['1', 'h', 1], 8: [1, 'h', 2] } }),
      /^shards\.8 .*shards\.7, h:1/,
    ],
    [
      'two nodes in one place on the ring',
      make({ shards: { 7: ['1', 'h', 1], 8: { port: 2, host: 'h', ringName: 'h:1' } } }),
      /^shards\.8 has the ringName of shards\.7, h:1/,
    ],
    [
      'an empty ringName',
      make({ shards: { 7: { port: 1, host: 'h', ringName: '' } } }),
      /ringName of shards\.7 .*""/,
    ],
    ['a type of 3844', withOptions({ keyTypes: { huge: 3844 } }), /^keyTypes\.huge .* not 3844/],
    ['a negative type', withOptions({ keyTypes: { low: -1 } }), /^keyTypes\.low .* not -1/],
    ['a type that is text', withOptions({ keyTypes: { low: '1' } }), /^keyTypes\.low .* not "1"/],
    ['two types of one value', withOptions({ keyTypes: { a: 5, b: 5 } }), /^keyTypes\.b must not be 5.*"a"/],
    [
      "the default type's value",
      withOptions({ keyTypes: { mine: 3843 } }),
      /^keyTypes\.mine must not be 3843.*"\$DEF"/,
    ],
    ["the default type's name", withOptions({ keyTypes: { $DEF: 5 } }), /^keyTypes\.\$DEF/],
    [
      'a special key of an unknown type',
      withOptions({ specialKeys: { nope: [1, 'nosuch'] } }),
      /type of specialKeys\.nope .*"nosuch"/,
    ],
    [
      'a special key without a time',
      withOptions({ specialKeys: { nope: ['x', 'index'] } }),
      /timestamp of specialKeys\.nope .*"x"/,
    ],
    ['a special key that is no list', withOptions({ specialKeys: { nope: 5 } }), /^specialKeys\.nope .* 5/],
    ['a special key of no letters', withOptions({ specialKeys: { '!': [1, 'index'] } }), /suffix .*"!"/],
    [
      'two special keys that are one',
      withOptions({ specialKeys: { 'a b': [1, 'index'], ab: [1, 'index'] } }),
      /^specialKeys\.ab makes the key 010000-ab.*specialKeys\.a b/,
    ],
    [
      'an epoch in the future',
      withOptions({ epoch: 9_999_999_999_999 }),
      /^epoch .*past.* not 9999999999999/,
    ],
    ['an epoch that is none', withOptions({ epoch: 'today' }), /^epoch .*"today"/],
    ['a sequence without a name', withOptions({ seqname: '' }), /^seqname .*""/],
    ['a skew that is none', withOptions({ maxSkew: -1 }), /^maxSkew .*-1/],
    ['a timeout of nothing', withOptions({ timeout: 0 }), /^timeout .*0/],
    ['options that are none', make({ shards, options: 5 }), /^options .*5/],
    ['an unknown driver', make({ shards, driver: 'redys' }), /^driver .*"redis" or "ioredis".*"redys"/],
    ['no maker of clients', make({ shards, createClient: 'ioredis' }), /^createClient .*"ioredis"/],
    [
      'one short name for two',
      withOptions({ subKeys: { name: 'n', note: 'n' } }),
      /^subKeys\.note must not be "n".*"name"/,
    ],
    ['no short name', withOptions({ subKeys: { name: '' } }), /^subKeys\.name .*""/],
    ['a short name with a sequence', withOptions({ subKeys: { name: '~n' } }), /^subKeys\.name .*"~n"/],
  ])('with %s is refused, and the entry named', (_, construct, message) => {
    expect(construct).toThrow(InvalidOptionError);
    expect(construct).toThrow(message);
  });

  it.each([
    ['of a config', make({ shards, option: {} }), /^config: unknown name "option"; did you mean "options"\?/],
    ['of a client', make({ shards, createclient: () => {} }), /did you mean "createClient"\?/],
    ['of an option', withOptions({ seqName: '$eq' }), /^options: unknown name "seqName"; .*"seqname"\?/],
    ['of the skew', withOptions({ maxskew: 5 }), /^options: unknown name "maxskew"; .*"maxSkew"\?/],
    ['of the types', withOptions({ keytypes: {} }), /^options: unknown name "keytypes"; .*"keyTypes"\?/],
    [
      'of a node',
      make({ shards: { 0: { port: 1, hots: 'h' } } }),
      /^shards\.0: unknown name "hots"; .*"host"\?/,
    ],
    ['like no other', withOptions({ zzz: 1 }), /^options: unknown name "zzz" \(known: seqname, epoch, /],
    [
      'of a user',
      withAuth({ usr: 'hunter22', password: 'hunter22' }),
      /^auth: unknown name "usr"; .*"user"\?/,
    ],
  ])('with a name %s that is misspelt is refused, with the right one', (_, construct, message) => {
    expect(construct).toThrow(InvalidOptionError);
    expect(construct).toThrow(message);
    expect(construct).not.toThrow(/hunter22/);
  });

  it.each([
    ['a node', make({ shards: { 0: ['1', 'h', 1, 2] } }), /^shards\.0 /],
    ['a special key', withOptions({ specialKeys: { x: [1, 'index', 2] } }), /^specialKeys\.x /],
  ])('with more than %s takes is refused', (_, construct, message) => {
    expect(construct).toThrow(InvalidOptionError);
    expect(construct).toThrow(message);
  });

  it.each([
    ['text', 'hunter22'],
    ['a password that is no text', { password: ['hunter22'] }],
    ['a user without a password', { user: 'hunter22' }],
    ['an empty password', { user: 'hunter22', password: '' }],
  ])('with %s for auth is refused, and nothing of it shown', (_, auth) => {
    expect(withAuth(auth)).toThrow(InvalidOptionError);
    expect(withAuth(auth)).toThrow(/^auth/);
    expect(withAuth(auth)).not.toThrow(/hunter22/);
  });
});

describe('A map', () => {
  const map = new ShardMap({ shards, options: README_OPTIONS });
  const other = new ShardMap({ shards: { 0: shards[0] }, options: README_OPTIONS });

  it.each([
    ['a type that is there', () => map.addKeyType('user', 99), /^keyTypes\.user is already defined/],
    ['a value that is there', () => map.addKeyType('other', 2), /^keyTypes\.other must not be 2.*"user"/],
    [
      'a special key that is there',
      () => map.addSpecialKey('users', [9, 'index']),
      /^specialKeys\.users is already defined/,
    ],
    ['a special key of an unknown type', () => map.addSpecialKey('x', [9, 'y']), /specialKeys\.x .*"y"/],
  ])('does not take %s', (_, add, message) => {
    expect(add).toThrow(InvalidOptionError);
    expect(add).toThrow(message);
  });

  it.each([
    ['an unknown type', () => map.genKey('nosuch'), /^type .*"\$DEF", "index".*"nosuch"/],
    ['the type 3844', () => map.genKey(3844), /^type .*3844/],
    ['a negative count', () => map.genKeys('user', -1), /^count .*-1/],
    ['half a key', () => map.genKeys('user', 0.5), /^count .*0\.5/],
    ['too many keys', () => map.genKeys('user', 1e9), /^count .*1000000000/],
  ])('mints nothing for %s', async (_, mint, message) => {
    await expect(mint()).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(mint()).rejects.toThrow(message);
  });

  it.each([
    [
      'genKey',
      () => map.genKey('user', (() => {}) as never),
      /^the options of genKey\(type, { signal }\) must be an object, not a function/,
    ],
    [
      'genKeys',
      () => map.genKeys('user', 3, (() => {}) as never),
      /^the options of genKeys\(type, count, { signal }\) must be an object, not a function/,
    ],
    ['genKey', () => map.genKey((() => {}) as never), /^type .*a function/],
    [
      'genKey',
      () => map.genKey('user', { signl: 1 } as never),
      /unknown name "signl"; did you mean "signal"\?/,
    ],
    [
      'genKeys',
      () => map.genKeys('user', 3, { signal: 5 } as never),
      /^signal must be an AbortSignal, not 5/,
    ],
  ])('refuses what %s does not take, like a callback of Shardjs', async (_, call, message) => {
    await expect(call()).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(call()).rejects.toThrow(message);
  });

  it.each([
    [
      'planReshard',
      () => planReshard(map, map, { allkeys: true } as never),
      /"allkeys"; did you mean "allKeys"\?/,
    ],
    ['reshard', () => reshard(map, map, { onprogress: () => {} } as never), /"onprogress"; .*"onProgress"\?/],
    ['reshard', () => reshard(map, map, { dryRun: true } as never), /^options: unknown name "dryRun"/],
    ['reshard', () => reshard(map, other, { signal: 5 as never }), /^signal must be an AbortSignal, not 5/],
    [
      'planReshard',
      () => planReshard(map, other, { signal: null as never }),
      /^signal must be an AbortSignal/,
    ],
  ])('refuses options that %s does not have', async (_, call, message) => {
    await expect(call()).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(call()).rejects.toThrow(message);
  });

  it('knows one event', () => {
    expect(() => map.on('node-faild' as 'node-failed', () => {})).toThrow(/did you mean "node-failed"\?/);
    expect(() => map.on('nonsense' as 'node-failed', () => {})).toThrow(InvalidOptionError);
    expect(() => map.on('node-failed', 5 as never)).toThrow(InvalidOptionError);
  });
});
