import { readFileSync } from 'node:fs';
import { abortReshard, planReshard, reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

/** The commands that the page lists for a user of resharding. */
const LISTED = /`ACL SETUSER mover on >secret ~\* ([^`]*)`/
  .exec(
    readFileSync(new URL('../../../../docs/resharding.md', import.meta.url), 'utf8').replace(/\s+/g, ' '),
  )![1]!
  .split(' ');

await describeWith(['redis'], 'A user with the commands that the page lists', () => {
  let shards: Shards;
  let clients: Redis[];
  const maps: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    shards = await startShards([1, 1, 1]);
    clients = shards.servers.map(({ port }) => new Redis(port));
  });
  beforeEach(async () => {
    for (const client of clients) await client.flushall();
    await setUser(LISTED);
  });
  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
  });
  afterAll(async () => {
    for (const client of clients ?? []) client.disconnect();
    await shards?.stop();
  });

  async function setUser(commands: readonly string[]): Promise<void> {
    for (const client of clients)
      await client.call('ACL', 'SETUSER', 'mover', 'reset', 'on', '>secret', '~*', ...commands);
  }
  const auth = { user: 'mover', password: 'secret' };
  const config = (from: number, to: number) => ({
    ...shards.config,
    auth,
    ...ringOf(shards.servers.slice(from, to)),
  });
  const open = <M extends { close(): Promise<void> }>(map: M): M => {
    maps.push(map);
    return map;
  };
  const pair = () => [open(new ShardMap(config(0, 2))), open(new ShardMap(config(1, 3)))] as const;

  it('can do everything: mint, plan, move, use keys in transition, go back, and finish', async () => {
    const [from] = pair();
    const keys = await from.genKeys('user', 100);
    for (const key of keys) {
      const plain = clients[from.ownerOf(key).index]!;
      await plain.set(key, key);
    }
    expect((await planReshard(...pair())).keys).toBeGreaterThan(0);
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    await expect(reshard(...pair(), { batch: 5, signal: controller.signal, onProgress })).rejects.toThrow(
      'enough',
    );
    const map = open(new TransitionMap(config(0, 2), config(1, 3)));
    await map.settle(...keys.slice(0, 20));
    await abortReshard(...pair());
    await reshard(...pair());
    const [, to] = pair();
    for (const key of keys) expect(await clients[to.ownerOf(key).index + 1]!.get(key)).toBe(key);
    expect(await to.genKeys('user', 3)).toHaveLength(3);
  });

  // Without these, Redis itself names the command, or the server needs no such command here.
  const OTHERS = ['+info', '+eval', '+evalsha', '+wait', '+config|get'];
  it.each(LISTED.filter((command) => !OTHERS.includes(command)))(
    'without %s is refused before anything is changed, and the refusal names the command',
    async (command) => {
      await setUser(LISTED.filter((one) => one !== command));
      for (const run of [planReshard, reshard, abortReshard]) {
        const error = await run(...pair()).catch((error) => error);
        expect(error).toBeInstanceOf(StoreError);
        expect(error.message).toContain(
          `the Redis user is not allowed to run ${command.slice(1).toUpperCase()}`,
        );
      }
      for (const client of clients) expect(await client.dbsize()).toBe(0);
    },
  );

  it.each(['+info', '+eval', '+evalsha'])('without %s is refused', async (command) => {
    for (const client of clients) await client.script('FLUSH');
    await setUser(LISTED.filter((one) => one !== command));
    await expect(reshard(...pair())).rejects.toThrow(StoreError);
    for (const client of clients) expect(await client.dbsize()).toBe(0);
  });

  it('without +config|get is taken for a user of nodes that keep their keys', async () => {
    await setUser(LISTED.filter((one) => one !== '+config|get'));
    await expect(reshard(...pair())).rejects.toThrow('--accept-volatile-target');
    await reshard(...pair(), { acceptVolatileTarget: true });
  });
});
