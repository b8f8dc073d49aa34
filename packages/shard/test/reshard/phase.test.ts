import { StoreError } from 'idsmith';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { describeWith } from '#services';
import { BEGIN_RESHARD, PREPARE_RESHARD } from '../../src/redis/scripts.ts';
import type { ReshardContext } from '../../src/reshard/context.ts';
import type { NodeConnection } from '../../src/reshard/node-connection.ts';
import { beginReshard, finishReshard, stopReshard } from '../../src/reshard/phase.ts';
import { TwoNodeReshard } from './two-node-reshard.ts';

const STATE = 'idsmith:reshard';

await describeWith(['redis'], 'A resharding between two servers', () => {
  let two: TwoNodeReshard;

  beforeAll(async () => {
    two = await TwoNodeReshard.start();
  });
  beforeEach(() => Promise.all([two.old.flushall(), two.next.flushall()]));
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => two?.stop());

  const phases = () => Promise.all([two.old, two.next].map((client) => client.hget(STATE, 'phase')));
  /** Signs a process on that renewed its heartbeat some time ago, ms. */
  const signOn = (client: Redis, field: string, ago = 0) => client.hset(STATE, field, Date.now() - ago);

  /** The same resharding, with something that happens right before a script runs on the old owner. */
  function interrupted(script: string, happens: () => Promise<unknown>): ReshardContext {
    let isOver = false;
    const nodes = two.context.nodes.map((node) => {
      if (node.address !== two.change.source.address) return node;
      const run: NodeConnection['run'] = async (operation, given, ...rest) => {
        if (given === script && !isOver) {
          isOver = true;
          await happens();
        }
        return node.run(operation, given, ...rest);
      };
      return new Proxy(node, {
        get(of, field) {
          if (field === 'run') return run;
          const value = Reflect.get(of, field, of);
          return typeof value === 'function' ? value.bind(of) : value;
        },
      });
    });
    return Object.create(two.context, { nodes: { value: nodes } });
  }

  async function failure(promise: Promise<unknown>): Promise<string> {
    const error = await promise.catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    return (error as Error).message;
  }

  it('begins when no process uses the old owner as before, and counts those that died', async () => {
    await signOn(two.old, 'member:alive', -60_000);
    await signOn(two.old, 'member:dead', 11_000);
    let isOver = false;
    const begun = beginReshard(two.context, undefined).finally(() => {
      isOver = true;
    });
    await expect.poll(() => two.old.hexists(STATE, 'member:dead')).toBe(0);
    expect([isOver, ...(await phases())]).toEqual([false, 'preparing', 'moving']);
    await two.old.hdel(STATE, 'member:alive');
    expect(await begun).toEqual({ round: 1, lapsed: 1 });
    expect(await phases()).toEqual(['moving', 'moving']);
  });

  it('is taken back if processes use the old owner for half a minute', async () => {
    const real = performance.now.bind(performance);
    let offset = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => real() + offset);
    await signOn(two.old, 'member:alive', -60_000);
    const message = failure(beginReshard(two.context, undefined));
    await expect.poll(() => two.old.hget(STATE, 'phase')).toBe('preparing');
    offset = 31_000;
    expect(await message).toContain('1 processes still run commands there after 30 s');
    expect(await two.old.hget(STATE, 'phase')).toBe('cancelled');
  });

  it('is taken back by its signal', async () => {
    await signOn(two.old, 'member:alive', -60_000);
    const controller = new AbortController();
    const begun = beginReshard(two.context, controller.signal).catch((error) => error);
    await expect.poll(() => two.old.hget(STATE, 'phase')).toBe('preparing');
    controller.abort(new Error('enough'));
    expect((await begun).message).toBe('enough');
    expect(await two.old.hget(STATE, 'phase')).toBe('cancelled');
  });

  it('does not begin on a node that is started again while it is announced', async () => {
    const context = interrupted(PREPARE_RESHARD, () => two.servers[0].restart());
    expect(await failure(beginReshard(context, undefined))).toContain('it was started again. Run it again');
    expect(await phases()).toEqual([null, 'cancelled']);
    expect(await beginReshard(two.context, undefined)).toMatchObject({ lapsed: 0 });
  });

  it.each([
    [
      'begins another one there',
      { move: 'a-b', phase: 'moving', about: 'v → w' },
      'another resharding is not finished (v → w)',
    ],
    [
      'has begun a later round there',
      { round: 9, phase: 'aborted' },
      'another process has begun a resharding there meanwhile',
    ],
  ])('is taken back if another process %s while it is announced', async (_, fields, words) => {
    const context = interrupted(PREPARE_RESHARD, async () => {
      const server = /master_replid:(\w+)/.exec(await two.old.info('replication'))?.[1];
      await two.old.hset(STATE, { move: two.context.reshardId, server, ...fields });
    });
    expect(await failure(beginReshard(context, undefined))).toContain(words);
    expect(await two.next.hget(STATE, 'phase')).toBe('cancelled');
  });

  it('fails if another process takes the announcement back', async () => {
    const context = interrupted(BEGIN_RESHARD, () => two.old.hset(STATE, 'phase', 'cancelled'));
    expect(await failure(beginReshard(context, undefined))).toContain('it was cancelled. Run it again');
  });

  it('stays done, and is not begun again while its keys go back', async () => {
    const { round } = await beginReshard(two.context, undefined);
    await finishReshard(two.context, round);
    expect(await beginReshard(two.context, undefined)).toEqual({ round, lapsed: 0 });
    expect(await phases()).toEqual(['done', 'done']);
    await Promise.all([two.old.flushall(), two.next.flushall()]);
    await beginReshard(two.context, undefined);
    await stopReshard(two.context, undefined);
    expect(await failure(beginReshard(two.context, undefined))).toContain(
      'was given up, and its keys go back',
    );
  });

  it('is given up when no process uses the new owner any more, and counts those that died', async () => {
    await beginReshard(two.context, undefined);
    await signOn(two.next, 'user:alive', -60_000);
    await signOn(two.next, 'user:dead', 11_000);
    const stopped = stopReshard(two.context, undefined);
    // One node after the other.
    await expect.poll(phases, { timeout: 10_000 }).toEqual(['returning', 'stopping']);
    expect(await two.next.hexists(STATE, 'user:dead')).toBe(0);
    await two.next.hdel(STATE, 'user:alive');
    expect(await stopped).toEqual({ round: 1, lapsed: 1 });
    expect(await phases()).toEqual(['returning', 'returning']);
  });

  it('does not end while a node was started again, nor in another round', async () => {
    const { round } = await beginReshard(two.context, undefined);
    const writer = await two.next.hget(STATE, 'server');
    await two.next.hset(STATE, 'server', 'before a restart');
    expect(await failure(finishReshard(two.context, round))).toContain('it was started again. Run it again');
    await two.next.hset(STATE, 'server', String(writer));
    expect(await failure(finishReshard(two.context, round + 1))).toContain('another process has begun');
    expect(await phases()).toEqual(['moving', 'moving']);
  });
});
