import { type NodeFailure, ShardMap } from '@idsmith/shard';
import { ClosedError, StoreError } from 'idsmith';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { type Shards, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'A map of four nodes', () => {
  let shards: Shards;
  let map: ShardMap;

  beforeAll(async () => {
    shards = await startShards([1, 2, 3, 4], { timeout: 500 }, { persistence: 'aof' });
    map = new ShardMap(shards.config);
  });

  afterAll(async () => {
    await map?.close();
    await shards?.stop();
  });

  /** The config of a process that is patient: a slow answer on a busy machine is no error. */
  const patient = () => ({ ...shards.config, options: { ...shards.config.options, timeout: 30_000 } });

  /** A special key for each node. */
  const keysPerNode = () => map.nodes.map(({ name }) => keyOn(name));
  function keyOn(name: string): string {
    for (let i = 0; ; i++) if (map.whereIs(map.fixedKey(i, 0, 0)) === name) return map.fixedKey(i, 0, 0);
  }

  it('gives the client of the node that owns a key, before anything was minted', async () => {
    for (const [i, key] of keysPerNode().entries()) {
      await map.getClient(key).hset(key, 'name', 'Ada');
      expect(await map.getClient(key).hget(key, 'name')).toBe('Ada');
      expect(await shards.servers[i]!.command('EXISTS', key)).toBe('1');
      expect(map.clientOf(map.nodes[i]!)).toBe(map.getClient(`${key}-more`));
    }
  });

  it('needs all nodes once, because a silent node may mint for other nodes', async () => {
    await shards.servers[2]!.kill();
    const refused = await map.genKey().catch((error) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused.message).toContain(`node ${map.nodes[2]!.address} does not answer`);
    await shards.servers[2]!.restart();
    await vi.waitFor(() => map.genKey(), { timeout: 30_000 });
  });

  it('mints on the others while one is dead, reports it, and uses it again afterwards', async () => {
    const failures: NodeFailure[] = [];
    map.on('node-failed', (failure) => failures.push(failure));
    const dead = map.nodes[1]!;
    await shards.servers[1]!.kill();
    const keys: string[] = [];
    const minters = async () => {
      for (let i = 0; i < 10; i++) keys.push(await map.genKey());
      return [...new Set(keys.map((key) => map.virtualShardOf(key)))].sort();
    };
    // One of them may still wait for its clock.
    await expect.poll(minters).toEqual([0, 2, 3]);
    expect(failures[0]!.node).toBe(dead);
    expect(failures[0]!.error).toBeInstanceOf(StoreError);
    expect(failures[0]!.error.message).toMatch(new RegExp(`^node ${dead.address}: minting keys failed: .`));
    // A process that starts now mints on the others, too.
    const other = new ShardMap(patient());
    keys.push(...(await other.genKeys('user', 1000)), ...(await other.genKeys('user', 1000)));
    await other.close();
    await shards.servers[1]!.restart({ empty: true });
    const isBack = async () => {
      keys.push(await map.genKey());
      return map.virtualShardOf(keys.at(-1)!);
    };
    await expect.poll(isBack, { interval: 5 }).toBe(1);
    expect(repeated(keys)).toEqual([]);
  });

  it('mints on the others while one hangs, and never uses the keys that it reserved', async () => {
    shards.servers[3]!.pause();
    const keys = await Promise.all(Array.from({ length: 8 }, () => map.genKeys('user', 100)));
    for (let i = 0; i < 20; i++) keys.push([await map.genKey()]);
    shards.servers[3]!.resume();
    await vi.waitFor(async () => {
      keys.push([await map.genKey()]);
      if (map.virtualShardOf(keys.at(-1)![0]!) !== 3) throw new Error('not yet');
    }, 20_000);
    expect(repeated(keys.flat())).toEqual([]);
  });

  it('asks a node that hangs whether it is back, and no call waits for the answer', async () => {
    await vi.waitFor(() => map.genKey(), 20_000);
    shards.servers[3]!.pause();
    const failures: NodeFailure[] = [];
    const listener = (failure: NodeFailure) => failures.push(failure);
    map.on('node-failed', listener);
    const hung = map.sequences[3]!;
    await expect.poll(() => map.genKey().then(() => failures.length)).toBeGreaterThan(0);
    const [mint, ask] = [vi.spyOn(hung, 'mint'), vi.spyOn(hung, 'readStatus')];
    await expect.poll(() => map.genKey().then(() => ask.mock.calls.length)).toBeGreaterThan(1);
    expect(mint).not.toHaveBeenCalled();
    shards.servers[3]!.resume();
    await expect.poll(() => map.genKey().then((key) => map.virtualShardOf(key))).toBe(3);
    map.off('node-failed', listener);
    vi.restoreAllMocks();
  });

  it('names the node in the error of a command on a dead node', async () => {
    const key = keyOn(map.nodes[0]!.name);
    const other = new ShardMap(patient());
    await other.getClient(key).exists(key);
    await shards.servers[0]!.kill();
    await expect(other.getClient(key).get(key)).rejects.toBeInstanceOf(StoreError);
    await expect(other.getClient(key).get(key)).rejects.toThrow(
      `node ${map.nodes[0]!.address}: get failed: connect`,
    );
    await shards.servers[0]!.restart();
    const live = keyOn(map.nodes[1]!.name);
    await other.getClient(live).set(live, 'text');
    const answer = await other
      .getClient(live)
      .lpop(live)
      .catch((error: unknown) => error);
    expect(answer).not.toBeInstanceOf(StoreError);
    expect(answer.message).toMatch(/^WRONGTYPE/);
    await other.close();
  });

  it('fails with a StoreError that names all nodes when all are dead', async () => {
    await Promise.all(shards.servers.map((server) => server.kill()));
    const refused = await map.genKey().catch((error) => error);
    expect(refused).toBeInstanceOf(StoreError);
    for (const { address } of map.nodes) expect(refused.message).toContain(`node ${address}: `);
    await Promise.all(shards.servers.map((server) => server.restart()));
    await vi.waitFor(() => map.genKey(), 20_000);
  });

  it('mints nothing after it was closed, and has no clients', async () => {
    const other = new ShardMap(shards.config);
    await other.genKey();
    const pending = other.genKeys('user', 10);
    const settled = pending.catch((error) => error);
    await other.close();
    expect(await settled).toBeInstanceOf(ClosedError);
    await expect(other.genKey()).rejects.toThrow(ClosedError);
    await expect(other.genKeys('user', 0)).rejects.toThrow(ClosedError);
    expect(() => other.getClient('020000-emails')).toThrow(ClosedError);
    expect(() => other.clientOf(other.nodes[0]!)).toThrow(ClosedError);
    expect(other.getType('1jyVFw3401')).toBe('sorted');
    await other.close();
    await other[Symbol.asyncDispose]();
  });
});
