import { abortReshard, planReshard, reshard, ShardMap, TransitionMap } from 'idsmith/shard';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { KEY, TwoNodeReshard } from './two-node-reshard.ts';

/** The fields that the first version of resharding kept on every node, with one fingerprint of both maps. */
const EARLIER = { move: '0123456789abcdef0123456789abcdef', claims: 3, takings: 3 };

await describeWith(['redis'], 'A resharding that an earlier version has begun', () => {
  let nodes: TwoNodeReshard;

  beforeAll(async () => {
    nodes = await TwoNodeReshard.start();
  });
  beforeEach(() => Promise.all([nodes.old.flushall(), nodes.next.flushall()]));
  afterAll(() => nodes?.stop());

  async function mark(fields: object): Promise<void> {
    const about = nodes.context.description;
    for (const client of [nodes.old, nodes.next])
      await client.hset('idsmith:reshard', { ...EARLIER, about, ...fields });
  }
  const states = () =>
    Promise.all([nodes.old, nodes.next].map((client) => client.hgetall('idsmith:reshard')));
  async function withMaps<T>(use: (from: ShardMap, to: ShardMap) => Promise<T>): Promise<T> {
    const [from, to] = nodes.configs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    return use(from, to).finally(() => Promise.all([from.close(), to.close()]));
  }
  async function readThroughTransition(): Promise<unknown> {
    const map = new TransitionMap(...nodes.configs());
    return Promise.resolve(map.getClient(KEY).get(KEY)).finally(() => map.close());
  }

  it.each(['moving', 'preparing'])('and that is %s is left to that version, by name', async (phase) => {
    await nodes.next.set(KEY, 'a');
    // An announcement that stays in force, however long a busy machine needs.
    await mark({ phase, since: Date.now() + 60_000 });
    const before = await states();
    for (const run of [
      () => withMaps(reshard),
      () => withMaps(abortReshard),
      () => withMaps(planReshard),
      readThroughTransition,
    ]) {
      const error = (await run().catch((error: unknown) => error)) as Error;
      expect(error.message).toContain('an earlier version of idsmith has begun the resharding');
      expect(error.message).toContain(nodes.context.description);
      expect(error.message).toContain('with the version that has begun it');
    }
    expect(await states()).toEqual(before);
    expect(await nodes.next.get(KEY)).toBe('a');
  });

  it('and announced, and then forgotten, does not stand in the way', async () => {
    await nodes.old.set(KEY, 'a');
    await mark({ phase: 'preparing', since: Date.now() - 60_000 });
    await withMaps(reshard);
    expect(await nodes.next.get(KEY)).toBe('a');
  });

  it('and finished lets the next one begin where it has ended', async () => {
    const [old, next] = nodes.context.description.split(' → ') as [string, string];
    await nodes.old.set(KEY, 'a');
    await mark({ phase: 'done', about: `${next} → ${old}` });
    expect(await readThroughTransition()).toBe('a');
    await withMaps(reshard);
    expect(await nodes.next.get(KEY)).toBe('a');
  });

  it('and finished does not let one begin elsewhere', async () => {
    await mark({ phase: 'done' });
    const before = await states();
    for (const run of [() => withMaps(reshard), readThroughTransition])
      await expect(run()).rejects.toThrow('It does not begin where that one ended');
    expect(await states()).toEqual(before);
  });
});
