import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connect } from 'idsmith/connect';
import { initStore, openStore } from 'idsmith/stores';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import * as ioredis from 'ioredis';
import * as redis from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWith,
  type RedisCluster,
  type RedisSentinels,
  startRedisCluster,
  startRedisSentinels,
} from '#services';
import type { RedisDriver } from '../../../src/stores/redis/drivers.ts';
import { openRedisWith } from '../../../src/stores/redis/open.ts';
import type { Store } from '../../../src/stores/store.ts';

const DRIVERS: Record<string, RedisDriver> = {
  redis: { name: 'redis', redis },
  ioredis: { name: 'ioredis', ioredis },
};

const clusterUrl = ({ nodes }: RedisCluster) =>
  `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

/** Takes leases' records until one is taken: while a group chooses another master, calls fail. */
const answersAgain = (store: Store, namespace: string) =>
  expect
    .poll(() => store.listLeases(namespace).then(() => true, String), { timeout: 60_000, interval: 200 })
    .toBe(true);

await describeWith(['redis'], 'The store of a URL of a Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster({ masters: 3, replicas: 1 });
  });
  afterAll(() => cluster?.stop());

  describe.each(Object.entries(DRIVERS))('with %s', (_, driver) => {
    let store: Store;
    beforeAll(() => {
      store = openRedisWith(driver, `${clusterUrl(cluster)}?durable=true`);
    });
    afterAll(() => store?.close());

    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  it('goes on with the replica of a master that is killed, and repeats no flake', async () => {
    const stores = Object.values(DRIVERS).map((driver) =>
      openRedisWith(driver, `${clusterUrl(cluster)}?maxTtl=2000`),
    );
    await initStore(stores[0]!);
    // The first connection takes longer than a lease of two seconds may wait.
    for (const store of stores) await store.listLeases('killed');
    const ids = await Promise.all(stores.map((store) => connect(store)));
    const seen: bigint[] = [];
    const mint = async () => {
      const generators = await Promise.all(ids.map((each) => each.flakes('killed', { ttl: 2000 })));
      for (const generator of generators)
        seen.push(...(await Promise.all([generator.nextAsync(), generator.nextAsync()])));
    };
    await mint();
    const slot = Number(await cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', 'idsmith:lease:{killed}'));
    const master = cluster.masters[Math.floor((slot * 3) / 16_384)]!;
    await master.kill();
    for (const store of stores) await answersAgain(store, 'killed');
    await mint();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(8);
    await Promise.all(ids.map((each) => each.close()));
    await Promise.all(stores.map((store) => store.close()));
  });
});

await describeWith(['redis'], 'The store of a URL of Sentinels', () => {
  let group: RedisSentinels;
  beforeAll(async () => {
    group = await startRedisSentinels();
  });
  afterAll(() => group?.stop());

  describe.each(Object.entries(DRIVERS))('with %s', (_, driver) => {
    let store: Store;
    beforeAll(() => {
      store = openRedisWith(driver, `${group.url}?durable=true`);
    });
    afterAll(() => store?.close());

    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  it('names the master that the Sentinels do not know', async () => {
    const store = await openStore(group.url.replace('/mymaster', '/nobody'));
    await expect(store.listLeases('x')).rejects.toThrow(/knows no master "nobody".*"sentinel monitor"/);
    await store.close();
  });

  it('goes to the master that is chosen after a crash, and repeats no flake and no number', async () => {
    const stores = Object.values(DRIVERS).map((driver) => openRedisWith(driver, `${group.url}?maxTtl=2000`));
    await initStore(stores[0]!);
    await stores[0]!.defineSequence({ name: 'numbers' });
    const first = await stores[0]!.allocate('numbers', 1);
    // The first connection takes longer than a lease of two seconds may wait.
    for (const store of stores) await store.listLeases('chosen');
    const ids = await Promise.all(stores.map((store) => connect(store)));
    const seen: bigint[] = [];
    const mint = async () => {
      const generators = await Promise.all(ids.map((each) => each.flakes('chosen', { ttl: 2000 })));
      for (const generator of generators) seen.push(await generator.nextAsync(), await generator.nextAsync());
    };
    await mint();
    const before = await group.master();
    await before.kill();
    await expect.poll(async () => (await group.master()).port, { timeout: 60_000 }).not.toBe(before.port);
    for (const store of stores) await answersAgain(store, 'chosen');
    await mint();
    expect(seen).toHaveLength(8);
    expect(new Set(seen).size).toBe(8);
    // Nobody knows whether the replica had the last block.
    const next = await stores[0]!.allocate('numbers', 1).catch(({ code }) => code);
    if (typeof next === 'string') expect(next).toMatch(/STORE/);
    else expect(next.first > first.first).toBe(true);
    await Promise.all(ids.map((each) => each.close()));
    await Promise.all(stores.map((store) => store.close()));
  });
});

await describeWith(['redis'], 'A process that has used several Redis servers', () => {
  it('ends by itself, although nobody has closed its stores', async () => {
    const cluster = await startRedisCluster();
    const group = await startRedisSentinels();
    const urls = [clusterUrl(cluster), group.url];
    const program = `import { openStore } from 'idsmith/stores';
      for (const url of ${JSON.stringify(urls)}) console.log((await (await openStore(url)).listLeases('x')).length);`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect((await run).stdout).toBe('0\n0\n');
    await Promise.all([cluster.stop(), group.stop()]);
  });
});

describe('A URL of several Redis servers', () => {
  it.each([
    ['redis+cluster://', 'must look like redis\\+cluster'],
    ['redis+cluster://a:1,b:2/0', 'no databases'],
    ['redis+sentinel://a:1,b:2', 'the name of the master'],
    ['redis+sentinel://user:se%cret@a/m', 'percent-encode the password'],
    ['redis+cluster://a:1, b c:2', 'a host is wrong'],
    ['redis+cluster://a:1?durabel=true', 'durable'],
    ['redis+sentinel://a:1/m/x', 'must be a number'],
  ])('%s is refused', async (url, message) => {
    const refused = openStore(url);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(refused).rejects.toThrow(new RegExp(message));
    await expect(refused).rejects.not.toThrow(/se%cret/);
  });
});
