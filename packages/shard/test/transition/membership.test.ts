import { TransitionMap } from '@idsmith/shard';
import { ClosedError } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { beginReshard } from '../../src/reshard/phase.ts';
import { Membership } from '../../src/transition/membership.ts';
import { NodeChecks } from '../../src/transition/node-checks.ts';
import { KEY, TwoNodeReshard } from '../reshard/two-node-reshard.ts';

await describeWith(['redis'], 'A process that uses an old node', () => {
  let nodes: TwoNodeReshard;
  let maps: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    nodes = await TwoNodeReshard.start();
  });
  beforeEach(() => Promise.all([nodes.old.flushall(), nodes.next.flushall()]));
  afterEach(async () => {
    await Promise.all(maps.map((map) => map.close()));
    maps = [];
  });
  afterAll(() => nodes?.stop());

  /** A map that moves every key from the old node to the new one. */
  function transition(): TransitionMap {
    const map = new TransitionMap(...nodes.configs());
    maps.push(map);
    return map;
  }

  /** The clock of the old node, ms. */
  async function clock(): Promise<number> {
    const [seconds, micros] = await nodes.old.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  const members = async () =>
    Object.keys(await nodes.old.hgetall('idsmith:reshard')).filter((field) => field.startsWith('member:'))
      .length;

  it('lets the resharding begin only after its earlier commands have been answered', async () => {
    const { context } = nodes;
    const checks = new NodeChecks(context, { ended() {}, mismatched() {} });
    const membership = new Membership('old owner', nodes.change.source, context, checks, 'me');
    expect(await membership.open()).toBe('open');
    const events: string[] = [];
    let answer = () => {};
    membership.track(
      new Promise<void>((resolve) => {
        answer = () => {
          events.push('answered');
          resolve();
        };
      }),
    );
    const beginning = beginReshard(nodes.context, undefined).then(() => events.push('begun'));
    // The membership learns of the announcement, sends nothing new, and stays signed on.
    await expect.poll(() => membership.standing).toBeUndefined();
    const later = membership.open().then((standing) => events.push(standing));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await members()).toBe(1);
    expect(events).toEqual([]);
    answer();
    await Promise.all([beginning, later]);
    expect(events[0]).toBe('answered');
    expect(events.slice(1).sort()).toEqual(['begun', 'left']);
    await membership.close();
  });

  it('and was killed is waited for, for a while, and then reported', async () => {
    const heard = (await clock()) - 9700;
    await nodes.old.hset('idsmith:reshard', 'member:killed', heard);
    expect(await beginReshard(nodes.context, undefined)).toMatchObject({ lapsed: 1 });
    expect((await clock()) - heard).toBeGreaterThan(10_000);
  });

  it('continues as before when the process that announced the resharding dies', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a');
    const { reshardId } = nodes.context;
    // In force until the map has learnt of it, however long a busy machine needs.
    const since = (await clock()) + 60_000;
    await nodes.old.hset('idsmith:reshard', { move: reshardId, phase: 'preparing', since, about: 'x' });
    await expect.poll(members).toBe(0);
    // The process that made it has been silent for too long.
    await nodes.old.hset('idsmith:reshard', 'since', (await clock()) - 10_000);
    expect(await map.getClient(KEY).append(KEY, 'b')).toBe(2);
    expect(await nodes.old.get(KEY)).toBe('ab');
    await beginReshard(nodes.context, undefined);
    expect(await map.getClient(KEY).get(KEY)).toBe('ab');
    expect(await nodes.next.get(KEY)).toBe('ab');
  });

  it('signs off when it is closed', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a');
    expect(await members()).toBe(1);
    await map.close();
    expect(await members()).toBe(0);
    expect(() => map.getClient(KEY)).toThrow(ClosedError);
  });
});
