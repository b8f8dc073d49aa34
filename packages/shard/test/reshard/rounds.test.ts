import { abortReshard, ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { ReshardContext } from '../../src/reshard/context.ts';
import type { NodeConnection } from '../../src/reshard/node-connection.ts';
import { beginReshard, finishReshard, stopReshard } from '../../src/reshard/phase.ts';
import { KEY, TwoNodeReshard } from './two-node-reshard.ts';

const LIST = 'idsmith:reshard:in';

/** Processes that were stopped for so long that the resharding was given up and has begun again meanwhile. */
await describeWith(['redis'], 'A process of an earlier round', () => {
  let nodes: TwoNodeReshard;

  beforeAll(async () => {
    nodes = await TwoNodeReshard.start();
  });
  beforeEach(() => nodes.beginReshard());
  afterAll(() => nodes?.stop());

  /** Calls `use` with the context of another process. */
  async function elsewhere<T>(use: (context: ReshardContext) => Promise<T>): Promise<T> {
    const [from, to] = nodes.configs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    try {
      return await use(new ReshardContext(from, to));
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  }

  const abort = () => elsewhere(({ from, to }) => abortReshard(from as ShardMap, to as ShardMap));
  const begin = () => elsewhere((context) => beginReshard(context, undefined));
  const phases = () =>
    Promise.all([nodes.old, nodes.next].map((client) => client.hget('idsmith:reshard', 'phase')));

  it('drops no key that came back meanwhile, and takes none', async () => {
    await nodes.old.set(KEY, 'a');
    await nodes.move();
    // The new owner has the value, so the mover would only have to drop one at the old owner.
    const error = await nodes
      .move(async (step) => {
        if (step !== 'claimed') return;
        await abort();
        await begin();
      })
      .catch((error) => error);
    expect(await nodes.whereabouts(KEY)).toEqual({ old: 'a', next: null, lists: 0 });
    expect(error.message).toMatch(/reading keys failed: .*earlier|begun/);
  });

  it('drops no key at its new owner, when it was bringing keys back', async () => {
    const { source, target } = nodes.change;
    await nodes.old.set(KEY, 'a');
    await elsewhere((context) => stopReshard(context, undefined));
    const paused = nodes.mover(async (step) => {
      if (step !== 'claimed') return;
      await abort();
      await nodes.begin();
      await nodes.move();
      await elsewhere((context) => stopReshard(context, undefined));
    }, 'back');
    await paused.move({ source: target, target: source }, [KEY]).catch(() => {});
    expect(await nodes.whereabouts(KEY)).toMatchObject({ old: null, next: 'a' });
    await abort();
    expect(await nodes.whereabouts(KEY)).toEqual({ old: 'a', next: null, lists: 0 });
  });

  it('does not finish the present round', async () => {
    const { round } = nodes;
    await abort();
    await begin();
    await expect(finishReshard(nodes.context, round)).rejects.toThrow(/another process/);
    expect(await phases()).toEqual(['moving', 'moving']);
  });

  it('does not begin again under a round that was given up', async () => {
    await abort();
    const [first] = nodes.context.nodes as [NodeConnection];
    const run = first.run.bind(first);
    // Another process begins and aborts between the question for the round and the announcement.
    first.run = async (operation, ...rest) => {
      if (operation !== 'beginning the resharding') return run(operation, ...rest);
      first.run = run;
      await begin();
      await abort();
      return run(operation, ...rest);
    };
    await expect(nodes.begin()).rejects.toThrow(/Run it again/);
    expect(await phases()).toEqual(['aborted', 'aborted']);
  });

  it('removes no entry of the present round from a list', async () => {
    const { target } = nodes.change;
    await nodes.next.hset(LIST, { [KEY]: 'old.1 ', other: 'old.1 ' });
    const entries = await target.readEntries(LIST, [KEY, 'other', 'absent']);
    await nodes.next.hset(LIST, KEY, 'new.2! digest');
    await target.unlist(LIST, entries);
    expect(await nodes.next.hgetall(LIST)).toEqual({ [KEY]: 'new.2! digest' });
  });
});
