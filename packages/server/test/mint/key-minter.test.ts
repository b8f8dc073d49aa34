import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reshard, ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { TestServer } from '../support/server.ts';

interface Shard {
  name: string;
  address: string;
  weight: number;
  error: string | null;
  minting: string | null;
}

await describeWith(['redis'], 'POST /v1/keys', () => {
  let redis: RedisServer[];
  let server: TestServer;
  let file: string;
  const config = () => ({
    shards: Object.fromEntries(redis.map(({ port }, i) => [String(i), [String(port), '127.0.0.1', 1]])),
    options: { keyTypes: { user: 2, order: 3 } },
  });

  beforeAll(async () => {
    redis = await Promise.all([startRedis(), startRedis()]);
    const started = await TestServer.prepare();
    file = join(started.folder, 'shards.json');
    writeFileSync(file, JSON.stringify(config()));
    server = await TestServer.prepare({ shards: file });
    await started.stop();
  });
  afterAll(async () => {
    await server?.stop();
    await Promise.all((redis ?? []).map((each) => each.stop()));
  });

  it('mints keys of a type by its name or number, none twice', async () => {
    const answers = await Promise.all(
      ['?type=user&count=500', '?type=3&count=500', '?count=500', '?type=order'].map((query) =>
        server.post(`/v1/keys${query}`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const map = new ShardMap(config() as never);
    const types = answers.map(({ json }) => map.getType(json.ids[0]));
    expect(types).toEqual(['user', 'order', '$DEF', 'order']);
    expect(repeated(answers.flatMap(({ json }) => json.ids))).toEqual([]);
    expect(await server.metric('idsmith_ids_minted_total{family="key",sequence=""}')).toBe(1501);
    await map.close();
  });

  it.each([
    ['shards.cjs', (text: string) => `exports.config = ${text};`],
    ['shards.mjs', (text: string) => `export default ${text};`],
  ])('takes its config from %s, too', async (name, content) => {
    const path = join(server.folder, name);
    writeFileSync(path, content(JSON.stringify(config())));
    const other = await TestServer.prepare({ shards: path });
    expect((await other.post('/v1/keys?type=user')).status).toBe(200);
    await other.stop();
    await expect(TestServer.prepare({ shards: join(server.folder, `none-${name}`) })).rejects.toThrow(
      'ENOENT',
    );
  });

  it('has its shards on the route /v1/ring, with their health and the last resharding', async () => {
    const { status, json } = await server.get('/v1/ring');
    expect(status).toBe(200);
    expect(json).toMatchObject({ file: 'shards.json', isCluster: false, resharding: null });
    expect(json.nodes.map(({ name, address, weight }: Shard) => ({ name, address, weight }))).toEqual(
      redis.map(({ port }, i) => ({ name: String(i), address: `127.0.0.1:${port}`, weight: 1 })),
    );
    for (const { error, minting, keys, clockAhead } of json.nodes) {
      expect({ error, minting }).toEqual({ error: null, minting: 'open' });
      expect(keys).toBeGreaterThanOrEqual(1);
      expect(Number.isInteger(clockAhead)).toBe(true);
    }
    const none = await TestServer.prepare();
    expect((await none.get('/v1/ring')).json).toEqual({
      file: null,
      isCluster: false,
      nodes: [],
      resharding: null,
    });
    await none.stop();
  });

  it('refuses a type that is not there', async () => {
    const { status, json } = await server.post('/v1/keys?type=nobody');
    expect({ status, code: json.code }).toEqual({ status: 422, code: 'INVALID_OPTION' });
  });

  it('is 503 on a server whose shards were handed over to another config, which knows of the end', async () => {
    const one = { ...config(), shards: { 0: config().shards['0'] } };
    const maps = [new ShardMap(config() as never), new ShardMap(one as never)] as const;
    await reshard(maps[0], maps[1]);
    const { status, json } = await server.post('/v1/keys?type=user');
    expect({ status, code: json.code }).toEqual({ status: 503, code: 'STORE' });
    expect((await server.post('/v1/keys?type=nobody')).status).toBe(422);
    await expect
      .poll(async () => {
        const { nodes, resharding } = (await server.get('/v1/ring')).json;
        return [nodes.map(({ minting }: Shard) => minting), resharding?.phase];
      })
      .toEqual([['foreign', 'closed'], 'done']);
    await Promise.all(maps.map((map) => map.close()));
  });

  it('tells in the metrics which shard is down, whether it ended or hangs', async () => {
    const up = async () =>
      (await server.get('/metrics')).text.split('\n').filter((line) => line.startsWith('idsmith_shard_up'));
    const eventually = (states: number[]) =>
      expect
        .poll(up, { timeout: 20_000 })
        .toEqual(
          states.map(
            (state, i) => `idsmith_shard_up{shard="${i}",address="127.0.0.1:${redis[i]?.port}"} ${state}`,
          ),
        );
    const [first, second] = redis as [RedisServer, RedisServer];
    await eventually([1, 1]);
    await second.kill();
    await eventually([1, 0]);
    await second.start();
    await eventually([1, 1]);
    first.pause();
    await eventually([0, 1]);
    first.resume();
    await eventually([1, 1]);
  });

  it('is 503 when no shard answers, which the route /v1/ring tells, too', async () => {
    await Promise.all(redis.map((each) => each.kill()));
    const { status, json } = await server.post('/v1/keys?type=user');
    expect({ status, code: json.code }).toEqual({ status: 503, code: 'STORE' });
    expect((await server.post('/v1/flakes')).status).toBe(200);
    await expect
      .poll(async () => (await server.get('/v1/ring')).json.nodes.map(({ error }: Shard) => error), {
        timeout: 20_000,
      })
      .toEqual(redis.map(({ port }) => expect.stringContaining(`127.0.0.1:${port}`)));
  });

  it('has a config that is checked when the server starts', async () => {
    const wrong = join(server.folder, 'wrong.json');
    writeFileSync(wrong, '{"shards": {"0": ["nonsense", "h"]}}');
    await expect(TestServer.prepare({ shards: wrong })).rejects.toThrow(
      /wrong.json: the port of shards.0 must be/,
    );
    await expect(TestServer.prepare({ shards: '/nowhere.json' })).rejects.toThrow(
      '/nowhere.json cannot be read',
    );
  });
});
