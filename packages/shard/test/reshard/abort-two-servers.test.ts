import { abortReshard, reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { handOver } from '../../src/mint/handover.ts';
import { ringOf } from '../start-shards.ts';
import { KEY, TwoNodeReshard } from './two-node-reshard.ts';

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

await describeWith(['redis'], 'An abort', () => {
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
  async function inProcess<T>(
    use: (from: ShardMap, to: ShardMap) => Promise<T>,
    configs: readonly ShardConfig[] = two.configs(),
  ): Promise<T> {
    const [from, to] = configs.map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    try {
      return await use(from, to);
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  }

  const abort = (configs?: readonly ShardConfig[]) =>
    inProcess((from, to) => abortReshard(from, to), configs).catch((error) => error);
  const phases = () =>
    Promise.all([two.old, two.next].map((client) => client.hget('idsmith:reshard', 'phase')));
  /** Runs a resharding that is killed as soon as its key has moved. */
  const killed = () =>
    inProcess(async (from, to) => {
      const afterStep = (step: string) => {
        if (step === 'settled') throw new Error('killed');
      };
      await expect(reshard(from, to, { afterStep } as object)).rejects.toThrow('killed');
    });

  it('is refused to a user that is not allowed to run a command that resharding needs', async () => {
    const clients = [two.old, two.next];
    for (const client of clients)
      await client.call('ACL', 'SETUSER', 'mover', 'reset', 'on', '>secret', '~*', '+@all', '-hkeys');
    const error = await abort(two.configs({ auth: { user: 'mover', password: 'secret' } }));
    for (const client of clients) await client.call('ACL', 'DELUSER', 'mover');
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('the Redis user is not allowed to run HKEYS');
  });

  it('is refused between two names of the same server', async () => {
    const [from] = two.configs();
    const to = { ...from, shards: { 0: [two.servers[0].port, 'localhost', 1] } } as ShardConfig;
    const error = await abort([from, to]);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toContain('are the same server');
  });

  it('returns keys also to an old owner that keeps less than the new one', async () => {
    await killed();
    await two.next.config('SET', 'save', '3600 1');
    const returned = await abort();
    await two.next.config('SET', 'save', '');
    expect(returned).toMatchObject({ moved: 1 });
    expect(await two.old.get(KEY)).toBe('value');
  });

  it('returns no key while minting cannot be handed back', async () => {
    await killed();
    await two.next.del('$equence');
    await two.next.rpush('$equence', 'no sequence');
    const error = await abort();
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('holds a list, not a sequence');
    expect(await phases()).toEqual(['moving', 'moving']);
  });

  it('hands minting back also from a new node that has lost its sequence', async () => {
    await killed();
    await two.next.del('$equence');
    expect(await abort()).toMatchObject({ moved: 1 });
    expect(await phases()).toEqual(['aborted', 'aborted']);
  });

  it('hands minting back also to an old node that has lost its sequence', async () => {
    const [, to] = two.configs();
    const states = await inProcess(
      async (from, next) => {
        await from.genKey();
        await handOver(from.sequences, next.sequences);
        await two.old.del('$equence');
        await abortReshard(from, next);
        return Promise.all(from.sequences.map((sequence) => sequence.readStatus()));
      },
      [{ ...to, ...ringOf(two.servers) }, to],
    );
    expect(states.map(({ whose, state }) => `${whose} ${state}`)).toEqual(['own open', 'own open']);
  });
});
