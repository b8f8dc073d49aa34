import { planReshard, reshard, type ShardMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { SixServers } from './six-servers.ts';

await describeWith(['redis'], 'Keys of other programs', () => {
  let six: SixServers;
  let from: ShardMap;
  let to: ShardMap;
  let old: Redis;
  let next: Redis;

  beforeAll(async () => {
    six = await SixServers.start();
  });
  beforeEach(async () => {
    await six.empty();
    const { servers } = six.shards;
    [from, to] = [six.mapOn([servers[0]!]), six.mapOn([servers[1]!])];
    [old, next] = six.clients as [Redis, Redis];
  });
  afterEach(() => six.closeMaps());
  afterAll(() => six?.stop());

  const FOREIGN = [
    'heartbeat',
    'metrics',
    'queue',
    'sessions',
    'counter',
    'config2',
    'abcdefghijklmnop',
    // UUIDs, one of which has a known type by chance.
    '550e8400-e29b-41d4-a716-446655440000',
    'deadbe02-0000-4000-8000-000000000000',
    // Zeros in front, and a time to come.
    '001jyVFw3402',
    'zzzzzzz3402',
  ];

  it('are not touched, and the dry run counts and lists them', async () => {
    await old.mset(...FOREIGN.flatMap((name) => [name, 'theirs']));
    await next.mset(...FOREIGN.flatMap((name) => [name, 'theirs, too']));
    const mine = await from.genKeys('user', 5);
    const suffixed = `${mine[0]}-friends`;
    const special = from.specialKeys.users!;
    for (const key of [...mine, suffixed, special]) await old.set(key, 'mine');
    const plan = await planReshard(from, to);
    expect(plan).toMatchObject({ keys: 7, skipped: FOREIGN.length });
    expect([...plan.skippedKeys].sort()).toEqual([...FOREIGN].sort());
    const report = await reshard(from, to);
    expect(report).toMatchObject({ moved: 7, superseded: 0, skipped: FOREIGN.length });
    expect([...report.skippedKeys].sort()).toEqual([...FOREIGN].sort());
    expect(await old.mget(...FOREIGN)).toEqual(FOREIGN.map(() => 'theirs'));
    expect(await next.mget(...FOREIGN)).toEqual(FOREIGN.map(() => 'theirs, too'));
    expect(await next.exists(...mine, suffixed, special)).toBe(7);
  });

  it('are told from keys of types without a name, which the user can list', async () => {
    const mine = [...(await from.genKeys(77, 3)), ...(await from.genKeys(78, 2))];
    for (const key of mine) await old.set(key, 'mine');
    const plan = await planReshard(from, to);
    expect(plan).toMatchObject({ keys: 0, skipped: 5, unknownTypes: { 77: 3, 78: 2 } });
    expect(await planReshard(from, to, { types: [77, 'user', 78] })).toMatchObject({ keys: 5, skipped: 0 });
    expect(await reshard(from, to, { types: [77] })).toMatchObject({ moved: 3, skipped: 2 });
    // The rest can follow later.
    expect(await reshard(from, to, { types: [78] })).toMatchObject({ moved: 2, skipped: 0 });
    expect(await next.exists(...mine)).toBe(5);
  });

  it('move if a pattern says that they are ours', async () => {
    await old.mset('session:1', 'a', 'session:2', 'b', 'queue', 'theirs');
    expect(await planReshard(from, to, { pattern: /^session:/g })).toMatchObject({ keys: 2, skipped: 1 });
    expect(await reshard(from, to, { pattern: /^session:/g })).toMatchObject({ moved: 2, skipped: 1 });
    expect(await next.mget('session:1', 'session:2')).toEqual(['a', 'b']);
    expect(await old.get('queue')).toBe('theirs');
  });

  it('are judged by the clocks of the nodes: a key that was minted just now is ours', async () => {
    const keys = await from.genKeys('user', 10_000);
    const pipeline = old.pipeline();
    for (const key of keys) pipeline.set(key, key);
    await pipeline.exec();
    expect(await planReshard(from, to)).toMatchObject({ keys: 10_000, skipped: 0 });
  });

  it('stay what they are when the resharding is resumed without its options', async () => {
    await old.mset(...Array.from({ length: 200 }, (_, i) => [`session:${i}`, 'x']).flat());
    const controller = new AbortController();
    const options = { allKeys: true, batch: 10, signal: controller.signal };
    await expect(
      reshard(from, to, { ...options, onProgress: () => controller.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
    const other = { types: [5] };
    await expect(reshard(from, to, { allKeys: false })).rejects.toThrow(
      new InvalidOptionError(
        'allKeys must stay as it was when the resharding began (true): leave the option out',
      ),
    );
    await expect(reshard(from, to, other)).rejects.toThrow('types must stay as it was');
    await expect(planReshard(from, to, other)).rejects.toThrow('types must stay as it was');
    await reshard(from, to);
    expect(await old.keys('session:*')).toEqual([]);
    expect(await next.keys('session:*')).toHaveLength(200);
  });

  it('and ours: a key that both owners hold before the move is refused, and neither value is lost', async () => {
    const { servers } = six.shards;
    const [two, three] = [six.mapOn(servers.slice(0, 2)), six.mapOn(servers.slice(0, 2), [1, 9])];
    const key = Array.from({ length: 500 }, (_, i) => two.fixedKey(1000 + i, i, 2)).find(
      (one) => two.ownerOf(one).index === 0 && three.ownerOf(one).index === 1,
    )!;
    await old.set(key, 'right');
    await next.set(key, 'of another time');
    for (const run of [planReshard, reshard]) {
      const error = await run(two, three).catch((error) => error);
      expect(error.message).toContain(`already holds the key "${key}"`);
      expect(error.message).not.toMatch(/\bdelete\b/i);
    }
    expect([await old.get(key), await next.get(key)]).toEqual(['right', 'of another time']);
  });

  it.each<[object, string]>([
    [{ types: 'user' }, 'types must be a list of types, not "user"'],
    [{ types: ['nobody'] }, 'types: "nobody" is neither a name in keyTypes nor a number from 0 to 3843'],
    [{ types: [3844] }, 'types: 3844 is neither a name in keyTypes nor a number from 0 to 3843'],
    [{ pattern: '^x' }, 'pattern must be a regular expression, not "^x"'],
  ])('%j is refused', async (options, message) => {
    for (const run of [planReshard, reshard])
      await expect(run(from, to, options)).rejects.toThrow(new InvalidOptionError(message));
  });
});
