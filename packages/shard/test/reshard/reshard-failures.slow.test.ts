import { planReshard, type ReshardProgress, reshard, ShardMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith, startRedis } from '#services';
import { faults, populate, sampleKeys } from '../../../verify/src/runs/reshard/sample-keys.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import { README_OPTIONS, type Shards } from '../start-shards.ts';
import { SixServers } from './six-servers.ts';

await describeWith(['redis'], 'Resharding that fails or is refused', () => {
  let six: SixServers;
  let shards: Shards;
  let clients: readonly Redis[];

  beforeAll(async () => {
    six = await SixServers.start();
    ({ shards, clients } = six);
  });
  beforeEach(() => six.empty());
  afterEach(() => six.closeMaps());
  afterAll(() => six?.stop());

  const mapOn = (...args: Parameters<SixServers['mapOn']>) => six.mapOn(...args);
  const fourAndSix = () => six.fourAndSix();
  const places = (map: ShardMap) => six.places(map);

  it.each(['old', 'new'])(
    'names the %s node that is down, changes nothing, and works when the node is back',
    async (which) => {
      const [from, to] = fourAndSix();
      const all = sampleKeys(from, 300, Date.now() + 3_600_000);
      await from.genKey();
      const server = shards.servers[which === 'old' ? 1 : 5]!;
      await server.kill();
      for (const run of [planReshard, reshard]) {
        // Maps of their own, whose drivers do not wait longer and longer before they connect again.
        const error = await run(...fourAndSix()).catch((error) => error);
        expect(error).toBeInstanceOf(StoreError);
        expect(error.message).toContain(`node 127.0.0.1:${server.port}: `);
      }
      await server.start();
      for (const client of clients) expect(await client.exists('idsmith:reshard')).toBe(0);
      await from.genKey();
      await populate(from, all);
      await reshard(from, to);
      expect(await faults(to, all)).toEqual([]);
    },
  );

  it('names a node that goes down in the middle, and continues when the node is back', async () => {
    const server = await startRedis({ persistence: 'aof' });
    try {
      const [from, to] = [mapOn(shards.servers.slice(0, 2)), mapOn([...shards.servers.slice(0, 2), server])];
      const all = sampleKeys(from, 3000, Date.now() + 3_600_000);
      await populate(from, all);
      let isKilled: Promise<void> | undefined;
      const onProgress = ({ moved }: ReshardProgress) => {
        if (moved > 200) isKilled ??= server.kill();
      };
      const error = await reshard(from, to, { batch: 20, rate: 4000, onProgress }).catch((error) => error);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toContain(`node 127.0.0.1:${server.port}: `);
      await isKilled;
      await server.start();
      await reshard(from, to);
      expect(await faults(to, all)).toEqual([]);
      expect(await places(to)).toEqual(new Map(all.map(({ key }) => [key, [to.whereIs(key)]])));
    } finally {
      await server.stop();
    }
  });

  it('logs in with a password, and never shows it', async () => {
    const password = 'opensesame123';
    const args = ['--requirepass', password];
    const servers = [await startRedis({ args }), await startRedis({ args })];
    try {
      const [from, to] = servers.map((server) => mapOn([server], [], { auth: { password } })) as [
        ShardMap,
        ShardMap,
      ];
      const key = await from.genKey('user');
      await from.getClient(key).set(key, 'x');
      expect(await planReshard(from, to)).toMatchObject({ keys: 1 });
      expect(await reshard(from, to)).toMatchObject({ moved: 1 });
      const wrong = servers.map((server) => mapOn([server], [], { auth: { password: 'wrong-secret' } }));
      const error = await reshard(wrong[0]!, wrong[1]!).catch((error) => error);
      expect(error).toBeInstanceOf(StoreError);
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${error.cause?.message}`).not.toMatch(
        /opensesame|wrong-secret/,
      );
    } finally {
      for (const server of servers) await server.stop();
    }
  });

  it('refuses to begin while another resharding is not finished, and says which', async () => {
    const [from, to] = fourAndSix();
    const third = mapOn(shards.servers.slice(0, 5));
    await populate(from, sampleKeys(from, 200, Date.now() + 3_600_000));
    const controller = new AbortController();
    const stopped = reshard(from, to, {
      batch: 10,
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(stopped).rejects.toThrow();
    const error = await reshard(from, third).catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('another resharding is not finished (127.0.0.1:');
    await reshard(from, to);
    await reshard(to, third);
  });

  it('refuses a joining node that holds values of keys that will move to it', async () => {
    const { servers } = shards;
    const [from, to] = [mapOn([servers[0]!]), mapOn([servers[1]!])];
    await clients[0]!.set('1jyVFw3401', 'alive');
    await clients[1]!.set('1jyVFw3401', 'from last year');
    await clients[1]!.set('1jyVFw3501', 'of somebody else');
    const error = await reshard(from, to).catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`node 127.0.0.1:${servers[1]!.port} already holds the key "1jyVFw3401"`);
    expect(await clients[0]!.get('1jyVFw3401')).toBe('alive');
    await clients[1]!.del('1jyVFw3401');
    expect(await reshard(from, to)).toMatchObject({ moved: 1 });
  });

  it('refuses two names of the same server, between which keys would be lost', async () => {
    const from = mapOn(shards.servers.slice(0, 2));
    const [first, second] = shards.servers;
    const to = new ShardMap({
      ...shards.config,
      shards: { 0: [first!.port, '127.0.0.1'], 1: [second!.port, 'localhost'] },
    });
    six.maps.push(to);
    const all = sampleKeys(from, 200, Date.now() + 3_600_000);
    await populate(from, all);
    const error = await reshard(from, to).catch((error) => error);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toContain(`localhost:${second!.port}`);
    expect(error.message).toContain(`127.0.0.1:${second!.port}`);
    expect(await faults(from, all)).toEqual([]);
    for (const client of clients) expect(await client.exists('idsmith:reshard')).toBe(0);
  });

  it('gives up when processes with the old config write without end', async () => {
    const { servers } = shards;
    const [from, to] = [mapOn([servers[0]!]), mapOn([servers[1]!])];
    const [old] = clients;
    await old!.set('1jyVFw3401', 'x');
    // With every key that is moved, another one comes.
    let count = 0;
    const afterStep: AfterStep = async (step) => {
      if (step === 'settled') await old!.set(from.fixedKey(1000 + count++, 1, 1), 'x');
    };
    const error = await reshard(from, to, { afterStep }).catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('Processes with the old config write there');
  });

  it.each<[string, object, string]>([
    ['a rate of nothing', { rate: 0 }, 'rate must be keys per second, more than 0, not 0'],
    ['a rate that is no number', { rate: '5' }, 'rate must be keys per second, more than 0, not "5"'],
    ['an empty batch', { batch: 0 }, 'batch must be a whole number from 1 to 10000, not 0'],
    ['progress for nobody', { onProgress: 5 }, 'onProgress must be a function, not 5'],
    ['all keys, perhaps', { allKeys: 'yes' }, 'allKeys must be true or false, not "yes"'],
  ])('refuses %s', async (_, options, message) => {
    const [from, to] = fourAndSix();
    await expect(reshard(from, to, options)).rejects.toThrow(new InvalidOptionError(message));
  });

  it('refuses another maxSkew than the nodes mint with, and says why, in the dry run, too', async () => {
    const { servers, config } = shards;
    await mapOn(servers.slice(0, 2)).genKey();
    const options = { ...config.options, maxSkew: 60 };
    const pair = [servers.slice(0, 2), servers.slice(0, 3)].map((some) => mapOn(some, [], { options }));
    for (const run of [planReshard, reshard]) {
      const error = await run(...(pair as [ShardMap, ShardMap])).catch((error) => error);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error.message).toContain(
        'with another maxSkew or epoch than from (maxSkew 60, epoch 1325404800000)',
      );
    }
    const other = [servers.slice(1, 3), servers.slice(0, 3)].map((some) => mapOn(some));
    for (const run of [planReshard, reshard])
      await expect(run(...(other as [ShardMap, ShardMap]))).rejects.toThrow('mints keys for other nodes');
  });

  it('refuses maps between which keys cannot be moved', async () => {
    const [from, to] = fourAndSix();
    const { servers } = shards;
    const other = mapOn(servers, [], { options: { ...README_OPTIONS, seqname: 'other' } });
    const later = mapOn(servers, [], {
      options: { ...README_OPTIONS, maxSkew: 50, epoch: 1_400_000_000_000 },
    });
    const cluster = new ShardMap({ cluster: clients[0] as never });
    const heavier = mapOn(servers.slice(0, 4), [5, 1, 1, 1], { takesOver: true });
    for (const [pair, message] of [
      [[from, other], 'seqname must stay $equence'],
      [[from, later], 'epoch must stay 1325404800000'],
      [[from, cluster], 'to must have hashTags: true'],
      [[cluster, to], 'from must have shards'],
      [[from, heavier], 'takesOver must be left out of to'],
      [[from, from], 'from and to must be two different maps'],
      [[from, {}], 'to must be a ShardMap, not an object'],
    ] as [[ShardMap, ShardMap], string][]) {
      const error = await reshard(...pair).catch((error) => error);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error.message).toContain(message);
      await expect(planReshard(...pair)).rejects.toThrow(message);
    }
  });
});
