import { InvalidOptionError, StoreError } from 'idsmith';
import { abortReshard, reshard, type ShardConfig, ShardMap } from 'idsmith/shard';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { handOver } from '../../../../src/shard/mint/handover.ts';
import { entriesOf } from '../../start-shards.ts';
import { KEY, TwoNodeReshard } from '../two-node-reshard.ts';

let nodes: TwoNodeReshard | undefined;
afterAll(() => nodes?.stop());

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

  it('is refused to a user that must not run a command that resharding needs', async () => {
    const clients = [two.old, two.next];
    for (const client of clients)
      await client.call('ACL', 'SETUSER', 'mover', 'reset', 'on', '>secret', '~*', '+@all', '-hkeys');
    const error = await abort(two.configs({ auth: { user: 'mover', password: 'secret' } }));
    for (const client of clients) await client.call('ACL', 'DELUSER', 'mover');
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('the user must not run HKEYS');
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
      [{ ...to, shards: entriesOf(two.servers) }, to],
    );
    expect(states.map(({ whose, state }) => `${whose} ${state}`)).toEqual(['own open', 'own open']);
  });
});
