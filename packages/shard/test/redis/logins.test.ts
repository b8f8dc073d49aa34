import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type ShardConfig, type ShardEntry, ShardMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import { afterEach, describe, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { programsOf } from '#services/binaries.ts';
import { makeFolder } from '#services/guard.ts';
import { withFreePorts } from '#services/ports.ts';
import { ask } from '#services/probe.ts';
import { ServerProcess } from '#services/process.ts';
import { readConfig } from '../../src/config/config.ts';

const read = (shards: Record<string, ShardEntry>, auth?: ShardConfig['auth']) => {
  const { nodes, logins } = readConfig({ shards, auth });
  return { ...nodes[0]!, ...logins[0]! };
};

describe('A node', () => {
  it.each([
    ['redis://10.0.0.1', { host: '10.0.0.1', port: 6379, address: '10.0.0.1:6379', tls: false, database: 0 }],
    ['redis://h:7000/', { address: 'h:7000', ringName: 'h:7000', database: 0 }],
    ['redis://h:7000/3', { address: 'h:7000/3', ringName: 'h:7000/3', database: 3 }],
    ['rediss://app:p%40ss@h:7000', { user: 'app', password: 'p@ss', tls: true, address: 'h:7000' }],
    ['redis://:secret@[::1]:7000', { user: undefined, password: 'secret', host: '::1', address: '::1:7000' }],
    [
      { url: 'rediss://h', weight: 5, ringName: 'a' },
      { weight: 5, ringName: 'a', tls: true },
    ],
    [
      { url: 'redis://h', database: 4, tls: { servername: 'x' } },
      { database: 4, tls: { servername: 'x' } },
    ],
    [
      { url: 'redis://h', user: 'own', password: 'mine' },
      { user: 'own', password: 'mine' },
    ],
    [
      { host: 'h', port: '7000', userid: 'own', password: 'mine' },
      { user: 'own', password: 'mine' },
    ],
    [[7000, 'h'], { user: 'all', password: 'theirs', tls: false }],
    [
      { host: 'h', port: 7000, password: 'mine' },
      { user: undefined, password: 'mine' },
    ],
  ] as [ShardEntry, object][])('of %j has an address and a login', (entry, expected) => {
    expect(read({ 0: entry }, { user: 'all', password: 'theirs' })).toMatchObject(expected);
  });

  it.each([
    ['hunter22', /^shards\.0 must be .*URL like rediss:/],
    ['http://user:hunter22@h', /^shards\.0 must be .*URL like rediss:/],
    ['redis://:hunter22@', /^shards\.0 must be/],
    ['redis://h/abc', /^shards\.0 .*number of a database/],
    ['redis://h/1/2', /^shards\.0 .*number of a database/],
    ['redis://:hunter22@h?tls=true', /^shards\.0 .*without \? and #/],
    ['redis://:%zz@h', /^shards\.0 has a %/],
    [{ url: 'redis://h', host: 'h' }, /^shards\.0 has a url: leave out host/],
    [{ url: 'redis://h/1', database: 2 }, /^shards\.0 has a database in its url/],
    [{ url: 5 }, /^shards\.0\.url must be text/],
    [{ host: 'h', port: 1, tls: 'hunter22' }, /^shards\.0\.tls must be true, false/],
    [{ host: 'h', port: 1, database: -1 }, /^the database of shards\.0 .*-1/],
    [{ host: 'h', port: 1, user: 'hunter22' }, /^shards\.0\.password is missing/],
    [{ host: 'h', port: 1, pasword: 'hunter22' }, /unknown name "pasword"; did you mean "password"\?/],
    [{ sentinel: { master: 'm', nodes: [[1, 'h']] } }, /^shards\.0 has a sentinel and needs a ringName/],
    [{ sentinel: { master: 'm', nodes: [] }, ringName: 'a' }, /^shards\.0\.sentinel\.nodes .*\[port, host\]/],
    [{ sentinel: { master: 'm', nodes: ['h'] }, ringName: 'a' }, /^shards\.0\.sentinel\.nodes\[0\]/],
    [{ sentinel: { nodes: [[1, 'h']] }, ringName: 'a' }, /^shards\.0\.sentinel\.master/],
    [{ sentinel: { master: 'm', nodes: [[1, 'h']] }, host: 'h', ringName: 'a' }, /leave out host and port/],
  ] as [never, RegExp][])('of %j is refused, and no secret shown', (entry, message) => {
    const construct = () => new ShardMap({ shards: { 0: entry } });
    expect(construct).toThrow(InvalidOptionError);
    expect(construct).toThrow(message);
    expect(construct).not.toThrow(/hunter22/);
  });

  it('shows its login nowhere', () => {
    const map = new ShardMap({
      shards: { 0: 'redis://app:hunter22@h', 1: [1, 'h'] },
      auth: { password: 'hunter22' },
    });
    expect(inspect([map, map.nodes, JSON.stringify(map)], { depth: 9, showHidden: true })).not.toContain(
      'hunter22',
    );
  });
});

await describeWith(['redis'], 'A map of nodes with their own logins', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function start(args: string[] = []): Promise<RedisServer> {
    const server = await startRedis({ args });
    ends.push(() => server.stop());
    return server;
  }

  function mapOf(config: ShardConfig): ShardMap {
    const map = new ShardMap({ ...config, options: { maxSkew: 20, timeout: 20_000 } });
    ends.push(() => map.close());
    return map;
  }

  /** Mints, writes to every node and reads it again. */
  async function use(map: ShardMap): Promise<void> {
    const keys = await map.genKeys(undefined, 100);
    for (const key of keys) await map.getClient(key).set(key, key);
    for (const key of keys) expect(await map.getClient(key).get(key)).toBe(key);
    expect(new Set(keys.map((key) => map.whereIs(key))).size).toBe(map.nodes.length);
  }

  it.each(['ioredis', 'redis'] as const)('logs in to each with %s', async (driver) => {
    const user = (name: string, password: string) => [
      '--user',
      name,
      'on',
      `>${password}`,
      '~*',
      '+@all',
      '--user',
      'default',
      'off',
    ];
    const [a, b, c] = await Promise.all([
      start(user('one', 'secret1')),
      start(user('two', 'secret2')),
      start(),
    ]);
    const shards = {
      0: `redis://one:secret1@127.0.0.1:${a.port}`,
      1: [b.port, '127.0.0.1'],
      2: { url: `redis://127.0.0.1:${c.port}/5`, user: 'default', password: 'any' },
    } satisfies Record<string, ShardEntry>;
    const map = mapOf({ shards, auth: { user: 'two', password: 'secret2' }, driver });
    await use(map);
    expect(await c.command('DBSIZE')).toBe('0');
    const wrong = mapOf({ shards: { ...shards, 0: `redis://one:wrong-secret@127.0.0.1:${a.port}` }, driver });
    const key = '020000-emails';
    const refused = await wrong
      .clientOf(wrong.nodes[0]!)
      .get(key)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(inspect(refused, { depth: 9, showHidden: true })).not.toContain('wrong-secret');
  });

  it.each(['ioredis', 'redis'] as const)('uses TLS with %s', async (driver) => {
    const folder = makeFolder('tls');
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost,IP:127.0.0.1',
      ],
      { stdio: 'ignore' },
    );
    await withFreePorts(1, async ([port]) => {
      await start([
        '--tls-port',
        String(port),
        '--tls-cert-file',
        cert,
        '--tls-key-file',
        key,
        '--tls-ca-cert-file',
        cert,
        '--tls-auth-clients',
        'no',
      ]);
      const ca = readFileSync(cert, 'utf8');
      await use(mapOf({ shards: { 0: { url: `rediss://localhost:${port}`, tls: { ca } } }, driver }));
      // The certificate is unknown to a client without `ca`.
      const distrustful = mapOf({ shards: { 0: `rediss://localhost:${port}` }, driver });
      await expect(distrustful.genKey()).rejects.toThrow(/node localhost:\d+: .*(self-signed|certificate)/);
    });
  });

  it('finds its nodes by Sentinels, also after a failover', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    await second.command('REPLICAOF', '127.0.0.1', first.port);
    await expect.poll(() => second.command('INFO', 'replication')).toContain('master_link_status:up');
    await withFreePorts(1, async (ports) => {
      const [program] = await programsOf('redis');
      const dir = makeFolder('sentinel');
      const file = join(dir, 'sentinel.conf');
      writeFileSync(
        file,
        `port ${ports[0]}\nbind 127.0.0.1\ndir ${dir}\nsentinel monitor shard-a 127.0.0.1 ${first.port} 1\n` +
          'sentinel down-after-milliseconds shard-a 300\nsentinel failover-timeout shard-a 2000\n',
      );
      const sentinel = new ServerProcess({
        name: 'sentinel',
        dir,
        ports,
        url: '',
        run: [program, file, '--sentinel'],
        answers: async () =>
          (await ask(ports[0], 'PING\r\n', (reply) => reply.includes('\r\n'))).toString().startsWith('+PONG'),
      });
      await sentinel.start();
      ends.push(() => sentinel.stop());
      const map = mapOf({
        shards: { 0: { sentinel: { master: 'shard-a', nodes: [[ports[0], '127.0.0.1']] }, ringName: 'a' } },
      });
      expect(map.nodes[0]).toMatchObject({ address: 'sentinel:shard-a', ringName: 'a' });
      const minted: string[] = [];
      const mint = async () => {
        const keys = await map.genKeys(undefined, 1000).catch(() => []);
        minted.push(...keys);
        return keys.length;
      };
      // On a busy machine, the Sentinel may take the first master for dead before it is.
      await expect.poll(mint).toBe(1000);
      await first.kill();
      await expect.poll(mint).toBe(1000);
      expect(new Set(minted).size).toBe(2000);
    });
  });
});
