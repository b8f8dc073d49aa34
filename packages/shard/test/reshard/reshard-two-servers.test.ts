import { abortReshard, reshard, ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { ReshardContext } from '../../src/reshard/context.ts';
import { settleLeftovers } from '../../src/reshard/move-all-keys.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import { beginReshard, finishReshard, stopReshard } from '../../src/reshard/phase.ts';
import { KEY, TwoNodeReshard } from './two-node-reshard.ts';

const STEPS = ['claimed', 'taken', 'put', 'dropped', 'settled'] as const;
const KEYS = Array.from({ length: 5 }, (_, i) => `${KEY}-${i}`);

let nodes: TwoNodeReshard | undefined;
afterAll(() => nodes?.stop());

await describeWith(['redis'], 'A whole resharding from one node to another', () => {
  let [from, to] = [] as unknown as [ShardMap, ShardMap];
  let two: TwoNodeReshard;

  beforeAll(async () => {
    nodes ??= await TwoNodeReshard.start();
    two = nodes;
  });
  beforeEach(async () => {
    await Promise.all([two.old.flushall(), two.next.flushall()]);
    for (const key of KEYS) await two.old.set(key, `value of ${key}`);
    await two.old.pexpire(KEYS[1]!, 600_000);
  });

  /** Calls `use` with maps of a process of its own. */
  async function inProcess<T>(use: (context: ReshardContext) => Promise<T>): Promise<T> {
    [from, to] = two.configs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    try {
      return await use(new ReshardContext(from, to));
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  }

  const run = (options = {}) => inProcess(() => reshard(from, to, options));
  const abort = (options = {}) => inProcess(() => abortReshard(from, to, options));
  const killedAt = (point: string): AfterStep => {
    return (step) => {
      if (step === point) throw new Error('killed');
    };
  };
  const phases = () =>
    Promise.all([two.old, two.next].map((client) => client.hget('idsmith:reshard', 'phase')));
  const lists = () =>
    Promise.all(
      [two.old, two.next].map((client) => client.exists('idsmith:reshard:in', 'idsmith:reshard:out')),
    );

  async function expectAllAt(owner: typeof two.old, other: typeof two.old): Promise<void> {
    expect(await owner.mget(...KEYS)).toEqual(KEYS.map((key) => `value of ${key}`));
    expect(await owner.pttl(KEYS[1]!)).toBeGreaterThan(500_000);
    expect(await owner.pttl(KEYS[0]!)).toBe(-1);
    expect(await other.exists(...KEYS)).toBe(0);
    expect(await lists()).toEqual([0, 0]);
  }

  it('moves all keys, and tells how many', async () => {
    await two.old.set('other', 'left alone');
    const told: number[] = [];
    const report = await run({ batch: 2, onProgress: ({ moved }: { moved: number }) => told.push(moved) });
    expect(report).toMatchObject({ moved: 5, superseded: 0, skipped: 1, skippedKeys: ['other'], lapsed: 0 });
    expect(report.pairs).toEqual([{ from: '0', to: '0', keys: 5, bytes: report.bytes }]);
    expect(report.bytes).toBeGreaterThan(5 * 20);
    expect(told.length).toBe(3);
    expect(Math.max(...told)).toBe(5);
    await expectAllAt(two.next, two.old);
    expect(await phases()).toEqual(['done', 'done']);
    expect(await run()).toMatchObject({ moved: 0 });
    await expect(abort()).rejects.toThrow('is finished: to go back, reshard in the other direction');
  });

  describe.each(STEPS)('that was killed at %s', (point) => {
    it('goes on when it is run again', async () => {
      await expect(run({ afterStep: killedAt(point) })).rejects.toThrow('killed');
      expect(await phases()).toEqual(['moving', 'moving']);
      await run();
      await expectAllAt(two.next, two.old);
    });

    it('is given up, also if that is killed in between, and may begin again', async () => {
      await expect(run({ batch: 2, afterStep: killedAt(point) })).rejects.toThrow('killed');
      const stopped = await abort({ afterStep: killedAt(point) }).catch(({ message }) => message);
      if (stopped === 'killed') {
        expect(await phases()).toEqual(['returning', 'returning']);
        await expect(run()).rejects.toThrow('was given up, and its keys go back');
        await abort();
      }
      await expectAllAt(two.old, two.next);
      expect(await phases()).toEqual(['aborted', 'aborted']);
      expect(await abort()).toMatchObject({ moved: 0, lapsed: 0 });
      await run();
      await expectAllAt(two.next, two.old);
    });
  });

  it('takes another round after it was given up, and the same one when it goes on', async () => {
    const begin = () => inProcess((context) => beginReshard(context, undefined));
    expect(await begin()).toEqual({ round: 1, lapsed: 0 });
    expect(await begin()).toEqual({ round: 1, lapsed: 0 });
    expect(await inProcess((context) => stopReshard(context, undefined))).toEqual({ round: 1, lapsed: 0 });
    await expect(begin()).rejects.toThrow('was given up');
    await expect(inProcess((context) => finishReshard(context, 1))).rejects.toThrow('another process');
    await expect(inProcess((context) => finishReshard(context, 2, 'aborted'))).rejects.toThrow(
      'Run it again',
    );
    await inProcess((context) => finishReshard(context, 1, 'aborted'));
    expect(await begin()).toEqual({ round: 2, lapsed: 0 });
    await expect(inProcess((context) => finishReshard(context, 1))).rejects.toThrow('another process');
    await inProcess((context) => finishReshard(context, 2));
    expect(await phases()).toEqual(['done', 'done']);
    expect(await begin()).toEqual({ round: 2, lapsed: 0 });
  });

  it('is stopped by its signal, before it begins and in between', async () => {
    await expect(run({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(await phases()).toEqual([null, null]);
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    await expect(run({ batch: 1, signal: controller.signal, onProgress })).rejects.toThrow('enough');
    expect(await phases()).toEqual(['moving', 'moving']);
    await expect(abort({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(await phases()).toEqual(['moving', 'moving']);
    await abort();
    await expectAllAt(two.old, two.next);
  });

  it('refuses options that it does not know', async () => {
    await expect(abort({ speed: 5 })).rejects.toThrow('speed');
  });

  it('moves each key of a batch as it deserves, and tells what became of it', async () => {
    await two.begin();
    const [plain, , changed, deleted, occupied] = KEYS as [string, string, string, string, string];
    await two.next.set(occupied, 'of the new owner');
    const result = await two
      .mover(async (step) => {
        if (step !== 'put') return;
        await two.old.set(changed, 'changed');
        await two.old.del(deleted);
      })
      .move(two.change, [...KEYS, `${KEY}-absent`], true);
    expect(result).toMatchObject({ keys: 2, superseded: 1, again: [changed], hasChanged: true, lost: [] });
    expect(await two.next.mget(plain, occupied, deleted)).toEqual([
      `value of ${plain}`,
      'of the new owner',
      null,
    ]);
    expect(await two.old.mget(...KEYS)).toEqual([null, null, 'changed', null, null]);
    const found = await two.mover().findAtSource(two.change.source, KEYS);
    expect(found).toEqual([changed]);
    expect(await settleLeftovers(two.context, two.mover())).toBeGreaterThan(0);
    expect(await settleLeftovers(two.context, two.mover())).toBe(0);
    expect(await two.next.get(changed)).toBe('changed');
    expect(await two.next.pttl(KEYS[1]!)).toBeGreaterThan(500_000);
    expect(await lists()).toEqual([0, 0]);
  });
});
