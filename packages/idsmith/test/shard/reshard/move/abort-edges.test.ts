import { InvalidOptionError } from 'idsmith';
import { abortReshard, reshard, ShardMap } from 'idsmith/shard';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { KEY, TwoNodeReshard } from '../two-node-reshard.ts';

let nodes: TwoNodeReshard | undefined;
afterAll(() => nodes?.stop());

await describeWith(['redis'], 'A resharding between two servers that is given up', () => {
  let two: TwoNodeReshard;

  beforeAll(async () => {
    nodes ??= await TwoNodeReshard.start();
    two = nodes;
  });
  beforeEach(async () => {
    await Promise.all([two.old.flushall(), two.next.flushall()]);
    await two.old.set(KEY, 'value');
  });

  /** Calls `use` with maps of a process of its own. */
  async function inProcess<T>(use: (from: ShardMap, to: ShardMap) => Promise<T>): Promise<T> {
    const [from, to] = two.configs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    try {
      return await use(from, to);
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  }

  const abort = (options = {}) => inProcess((from, to) => abortReshard(from, to, options));
  const phases = () =>
    Promise.all([two.old, two.next].map((client) => client.hget('idsmith:reshard', 'phase')));
  const lists = () =>
    Promise.all(
      [two.old, two.next].map((client) => client.exists('idsmith:reshard:in', 'idsmith:reshard:out')),
    );
  const killedAt = (point: string) => (step: string) => {
    if (step === point) throw new Error('killed');
  };
  /** Runs a resharding that is killed after a step of its first batch. */
  const killed = (point = 'put', options = {}) =>
    inProcess(async (from, to) => {
      const settings = { ...options, afterStep: killedAt(point) };
      await expect(reshard(from, to, settings as object)).rejects.toThrow('killed');
    });

  it('counts processes that died as users of the new owner', async () => {
    await killed();
    await two.next.hset('idsmith:reshard', { 'user:one': 1, 'user:two': 1 });
    await two.old.hset('idsmith:reshard', { 'user:one': 1 });
    expect(await abort()).toMatchObject({ lapsed: 2 });
    expect(await two.old.get(KEY)).toBe('value');
  });

  it('hands minting back', async () => {
    await killed();
    await abort();
    await inProcess(async (from, to) => {
      expect(await from.genKey()).toMatch(/^\w+$/);
      await expect(to.genKey()).rejects.toThrow(InvalidOptionError);
    });
  });

  it('leaves minting alone that was not handed over', async () => {
    await two.begin();
    await abort();
    expect(await phases()).toEqual(['aborted', 'aborted']);
    expect((await two.old.keys('*')).sort()).toEqual([KEY, 'idsmith:reshard'].sort());
    expect(await two.next.keys('*')).toEqual(['idsmith:reshard']);
  });

  it('lets both maps use the old nodes, also if it had not begun', async () => {
    for (const hasBegun of [false, true]) {
      if (hasBegun) await killed('settled');
      await inProcess(async (from, to) => {
        expect(await abortReshard(from, to)).toMatchObject({ moved: hasBegun ? 1 : 0, lapsed: 0 });
        expect(from.routing).toBeUndefined();
        expect(await (to.getClient(KEY) as Redis).get(KEY)).toBe('value');
      });
      expect(await phases()).toEqual(hasBegun ? ['aborted', 'aborted'] : [null, null]);
    }
  });

  it('leaves both maps in transition when it does not come to its end', async () => {
    await killed('settled');
    await inProcess(async (from, to) => {
      const options = { afterStep: killedAt('claimed') } as object;
      await expect(abortReshard(from, to, options)).rejects.toThrow('killed');
      expect(from.routing).toBeDefined();
      expect(to.routing).toBe(from.routing);
      expect(await (from.getClient(KEY) as Redis).get(KEY)).toBe('value');
    });
  });

  it('returns the keys that the settings of the resharding have chosen', async () => {
    await two.old.set('another', 'value');
    await killed('settled', { pattern: /^another$/ });
    expect(await two.next.exists(KEY, 'another')).toBe(2);
    expect(await abort()).toMatchObject({ moved: 2 });
    expect(await two.old.exists(KEY, 'another')).toBe(2);
  });

  it('is refused when the nodes know that an old owner is gone', async () => {
    await killed();
    await two.next.hset('idsmith:reshard', 'gone', JSON.stringify([two.change.source.id]));
    await expect(abort()).rejects.toThrow(two.change.source.address);
    expect(await phases()).toEqual(['moving', 'moving']);
  });

  it('ends after ten passes if processes write to nodes that no longer own the keys', async () => {
    let passes = 0;
    const afterStep = async (step: string) => {
      if (step !== 'settled') return;
      passes++;
      await two.old.set(KEY, 'value');
    };
    const moving = inProcess((from, to) => reshard(from, to, { afterStep } as object));
    await expect(moving).rejects.toThrow('after 10 passes there are still keys');
    expect(passes).toBe(10);
  });

  it('tells how many keys there are to look at', async () => {
    const totals: number[] = [];
    const onProgress = ({ total }: { total: number }) => totals.push(total);
    await inProcess((from, to) => reshard(from, to, { onProgress }));
    // The key, the state of the resharding and the sequence.
    expect(totals).toEqual([3]);
  });

  it('goes on without a new owner that is gone', async () => {
    await killed();
    await two.old.hset('idsmith:reshard', 'gone', JSON.stringify([two.change.target.id]));
    await abort();
    expect(await phases()).toEqual(['aborted', 'moving']);
    expect(await two.old.get(KEY)).toBe('value');
    expect((await lists())[0]).toBe(0);
  });
});
