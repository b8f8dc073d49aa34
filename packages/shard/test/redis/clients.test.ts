import { inspect } from 'node:util';
import { ShardMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { createClient } from 'redis';
import { expect, it, vi } from 'vitest';
import { describeWith, startRedis } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { ringOf, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'A Redis that wants a user and a password', () => {
  const password = 'correct-horse-battery';
  const users = ['--user', 'minter', 'on', `>${password}`, '~*', '+@all', '--user', 'default', 'off'];

  it('accepts clients with the right login, and nothing shows the password', async () => {
    const server = await startRedis({ args: users }).catch((error) => error);
    const shardsOf = () => ({ ...ringOf([server]), options: { maxSkew: 20 } });
    const seen: unknown[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((...args) => seen.push(args));
    const warn = vi.spyOn(console, 'error').mockImplementation((...args) => seen.push(args));
    for (const auth of [
      { user: 'minter', password },
      { username: 'minter', password },
    ]) {
      const map = new ShardMap({ ...shardsOf(), auth });
      const key = await map.genKey();
      await map.getClient(key).set(key, 'value');
      expect(await map.getClient(key).get(key)).toBe('value');
      seen.push(map, JSON.stringify(map), map.nodes);
      await map.close();
    }
    for (const auth of [{ password }, { user: 'nobody', password }, undefined]) {
      const map = new ShardMap({ ...shardsOf(), auth });
      map.on('node-failed', (failure) => seen.push(failure));
      const refused = await map.genKey().catch((error) => error);
      expect(refused).toBeInstanceOf(StoreError);
      expect(refused.message).toMatch(/WRONGPASS|NOAUTH/);
      seen.push(
        refused,
        await map
          .getClient('020000-emails')
          .get('020000-emails')
          .catch((error: unknown) => error),
      );
      await map.close();
    }
    log.mockRestore();
    warn.mockRestore();
    expect(inspect(seen, { depth: 20, showHidden: true })).not.toContain(password);
    await server.stop();
  });
});

await describeWith(['redis'], 'Clients that the user makes', () => {
  it('of the package redis mint, and are left open', async () => {
    const shards = await startShards([1, 1]);
    const clients = new Map(
      await Promise.all(
        shards.servers.map(async ({ port, url }) => {
          const client = createClient({ url });
          client.on('error', () => {});
          await client.connect();
          return [port, client] as const;
        }),
      ),
    );
    const map = new ShardMap({
      shards: shards.config.shards!,
      options: { maxSkew: 20 },
      createClient: ({ port }) => clients.get(port)!,
    });
    const keys = await map.genKeys(undefined, 10_000);
    expect(repeated(keys)).toEqual([]);
    const [key] = keys as [string];
    await map.getClient(key).set(key, 'value');
    await map.close();
    const owner = [...clients.values()][map.ownerOf(key).index]!;
    expect(await owner.get(key)).toBe('value');
    for (const client of clients.values()) client.destroy();
    await shards.stop();
  });

  it.each([{}, undefined, null, 5])('must be clients of a known package, not %j', async (client) => {
    const map = new ShardMap({ shards: { 0: ['1', 'h', 1] }, createClient: () => client });
    await expect(map.genKey()).rejects.toThrow('client must be a client of the package ioredis or redis');
  });

  it('mint with the default skew of a second', async () => {
    const shards = await startShards([1]);
    const { maxSkew: _, ...options } = shards.config.options!;
    const map = new ShardMap({ shards: shards.config.shards!, options });
    const started = performance.now();
    await map.genKey();
    expect(performance.now() - started).toBeGreaterThan(990);
    await map.close();
    await shards.stop();
  });
});
