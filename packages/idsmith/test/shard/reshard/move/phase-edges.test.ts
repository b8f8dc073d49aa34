import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../../src/errors.ts';
import type { ReshardContext } from '../../../../src/shard/reshard/context.ts';
import { MisfitError } from '../../../../src/shard/reshard/move/compare-states.ts';
import {
  beginReshard,
  finishReshard,
  readCheckedStates,
  stopReshard,
} from '../../../../src/shard/reshard/move/phase.ts';
import { type Reply, ScriptedNode, StepLog } from './scripted-node.ts';
import { PHASE_REPLIES } from './usual-replies.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
});

/** The answer of a node that reads its state. */
const state = (phase: string, fields: Record<string, unknown> = {}, isChecked = 1): Reply => [
  ...[phase, 'p → q', isChecked, 'server'],
  Object.entries({ phase, ...fields }).flat(),
];
const moving = (fields: Record<string, unknown> = {}, isChecked = 1) =>
  state('moving', { round: 3, ...fields }, isChecked);

/** A resharding from the node `o` to the node `n`, which have these states. */
function world({ o = state('before'), n = state('before'), isCluster = false, gone = [] as string[] } = {}) {
  const log = new StepLog();
  const old = new ScriptedNode(log, 'o', PHASE_REPLIES).answer('READ_STATE', o);
  const next = new ScriptedNode(log, 'n', PHASE_REPLIES, isCluster).answer('READ_STATE', n);
  const context = {
    ...{ nodes: [next, old], reshardId: 'id', description: 'x → y', goneIds: gone },
    ...{ gone: new Set(), addGone() {}, sources: new Map([['o:1', old]]) },
  } as unknown as ReshardContext;
  return { log, old, next, context };
}

/** The error that a promise ends with. */
async function failure(promise: Promise<unknown>): Promise<StoreError> {
  const error = await promise.then(
    () => 'no error',
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error;
}

describe('The states of all nodes', () => {
  const check = (given: Parameters<typeof world>[0], acceptOlder?: string[]) =>
    readCheckedStates(world(given).context, acceptOlder);

  it('are read', async () => {
    const states = await check({ o: moving(), n: state('before') });
    expect(states.map(({ id, phase }) => `${id} ${phase}`)).toEqual(['n before', 'o moving']);
  });

  it('have to fit, and to be of the present', async () => {
    expect(await failure(check({ o: state('other') }))).toBeInstanceOf(MisfitError);
    const ended = state('before', { phase: 'done', round: 5 });
    expect((await failure(check({ o: moving(), n: ended }))).message).toContain('the state of a backup');
  });

  it('have to be those of the same cluster', async () => {
    const recorded = (id: string) => JSON.stringify({ id, nodes: ['m7'], masters: ['m7:1'] });
    const of = (id: string) =>
      check({ isCluster: true, o: moving({ cluster: recorded(id) }), n: moving({ cluster: 'c' }) });
    expect((await failure(of('d'))).message).toContain('has begun with the Redis Cluster of m7:1');
    expect(await of('c')).toHaveLength(2);
  });

  it('must not be older than the others know, unless this is accepted', async () => {
    const oldBehind = { o: moving({ puts: 4 }, 0), n: moving({ 'put:o': 5 }) };
    const nextBehind = { o: moving({ 'drop:n': 5 }), n: moving({ drops: 4 }, 0) };
    expect((await failure(check(oldBehind))).message).toContain('node o:1 was started again');
    expect((await failure(check(oldBehind, ['n:1']))).message).toContain('node o:1 was started again');
    expect((await failure(check(nextBehind))).message).toContain('node n:1 was started again');
    expect(await check(oldBehind, ['o:1'])).toHaveLength(2);
    expect(await check(nextBehind, ['n:1'])).toHaveLength(2);
    expect(await check({ o: state('before', {}, 0), n: moving() })).toHaveLength(2);
  });

  it('may be older at new owners after the resharding was given up', async () => {
    const aborted = (fields: Record<string, unknown>, isChecked = 1) =>
      state('aborted', { round: 3, ...fields }, isChecked);
    expect(await check({ o: aborted({ 'put:n': 5 }), n: aborted({ puts: 4 }, 0) })).toHaveLength(2);
    const oldBehind = { o: aborted({ puts: 4 }, 0), n: aborted({ 'put:o': 5 }) };
    expect((await failure(check(oldBehind))).message).toContain('node o:1 was started again');
  });
});

describe('The beginning of a resharding', () => {
  it('is announced on one node after the other, and then begins', async () => {
    const { context, log, old, next } = world({ gone: ['g'] });
    expect(await beginReshard(context, undefined, { settings: '{"a":1}' })).toEqual({ round: 1, lapsed: 0 });
    expect(log.entries).toEqual([
      ...['n READ_STATE', 'o READ_STATE +1', 'n PREPARE_RESHARD', 'o PREPARE_RESHARD'],
      ...['n BEGIN_RESHARD', 'o BEGIN_RESHARD +1'],
    ]);
    for (const node of [old, next]) {
      expect(node.argsOf('PREPARE_RESHARD')).toEqual([['id', 'x → y', 1, '{"a":1}', '["g"]', 'server', '']]);
      expect(node.argsOf('BEGIN_RESHARD')).toEqual([['id', 10_000, 1]]);
    }
  });

  it('has settings of its own, or none', async () => {
    const { context, old } = world();
    await beginReshard(context, undefined);
    expect(old.argsOf('PREPARE_RESHARD')).toEqual([['id', 'x → y', 1, '{}', '[]', 'server', '']]);
  });

  it('waits until no process uses a node as before, and counts the dead', async () => {
    const { context, old } = world();
    old.answer(
      'BEGIN_RESHARD',
      ['preparing', '', 1, 2, 1],
      ['preparing', '', 1, 0, 1],
      ['moving', '', 0, 1, 1],
    );
    const begun = beginReshard(context, undefined);
    await vi.advanceTimersByTimeAsync(39);
    expect(old.argsOf('BEGIN_RESHARD')).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(old.argsOf('BEGIN_RESHARD')).toHaveLength(3);
    expect(await begun).toEqual({ round: 1, lapsed: 3 });
  });

  it('gives up after half a minute', async () => {
    const { context, old, next, log } = world();
    old.answer('BEGIN_RESHARD', ['preparing', '', 4, 2, 1]);
    let error: Error | undefined;
    void beginReshard(context, undefined).catch((thrown) => {
      error = thrown;
    });
    await vi.advanceTimersByTimeAsync(30_019);
    expect([error, old.argsOf('BEGIN_RESHARD').length]).toEqual([undefined, 1501]);
    await vi.advanceTimersByTimeAsync(1);
    expect(error?.message).toContain('node o:1: beginning the resharding failed: 4 processes still run');
    expect(error?.message).toContain('after 30 s.');
    for (const node of [old, next]) expect(node.argsOf('CANCEL_RESHARD')).toEqual([['id', 1]]);
    expect(log.underWay).toBe(0);
  });

  it('is stopped by its signal', async () => {
    const { context, old } = world();
    old.answer('BEGIN_RESHARD', ['preparing', '', 4, 2, 1]);
    const controller = new AbortController();
    let error: Error | undefined;
    void beginReshard(context, controller.signal).catch((thrown) => {
      error = thrown;
    });
    await vi.advanceTimersByTimeAsync(50);
    controller.abort(new Error('enough'));
    await vi.advanceTimersByTimeAsync(20);
    expect(error?.message).toBe('enough');
  });

  it.each<[string, Reply, string]>([
    ['that was started again', ['restarted', '', 0], 'beginning the resharding failed: it was started again'],
    ['of a later round', ['outdated', 'v → w', 0], 'given this one up (v → w)'],
    ['with another resharding', ['other', 'v → w', 1, 1], 'another resharding is not finished (v → w)'],
  ])('is taken back when it is announced on a node %s', async (_, reply, message) => {
    const { context, old, next, log } = world();
    old.answer('PREPARE_RESHARD', reply);
    const error = await failure(beginReshard(context, undefined));
    expect(error.message).toContain('node o:1: ');
    expect(error.message).toContain(message);
    expect(log.underWay).toBe(0);
    for (const node of [old, next]) {
      expect(node.argsOf('CANCEL_RESHARD')).toEqual([['id', 1]]);
      expect(node.argsOf('BEGIN_RESHARD')).toEqual([]);
    }
  });

  it.each<[string, Reply, string]>([
    ['was cancelled', ['before', '', 0, 0, 1], 'it was cancelled. Run it again'],
    ['is that of another round', ['moving', '', 0, 0, 2], 'it was cancelled. Run it again'],
    ['was announced in another round', ['preparing', '', 1, 0, 2], 'it was cancelled. Run it again'],
    ['is another one', ['misfit', 'v → w', 0, 0, 1], 'the last resharding there was v → w'],
  ])('fails if it %s meanwhile', async (_, reply, message) => {
    const { context, old } = world();
    old.answer('BEGIN_RESHARD', reply);
    expect((await failure(beginReshard(context, undefined))).message).toContain(message);
  });

  it('stays done', async () => {
    const { context, old } = world();
    old.answer('BEGIN_RESHARD', ['done', '', 0, 0, 1]);
    expect(await beginReshard(context, undefined)).toEqual({ round: 1, lapsed: 0 });
  });

  it('is refused after it was given up', async () => {
    const { context, log } = world({ o: state('stopping', { round: 3 }) });
    expect((await failure(beginReshard(context, undefined))).message).toContain('x → y was given up');
    expect(log.entries).toHaveLength(2);
  });

  it('is that of the present round, unless another resharding has taken place since', async () => {
    const misfit = (round: number) => world({ o: moving(), n: state('misfit', { round }) });
    const earlier = misfit(2);
    for (const node of [earlier.old, earlier.next]) node.answer('BEGIN_RESHARD', ['moving', '', 0, 0, 3]);
    expect(await beginReshard(earlier.context, undefined)).toEqual({ round: 3, lapsed: 0 });
    const later = misfit(3);
    expect((await failure(beginReshard(later.context, undefined))).message).toContain('node n:1: the last');
    expect(later.log.entries).toHaveLength(2);
  });

  it('checks nodes that were started again, before keys move there', async () => {
    const { context, log, old, next } = world({
      o: moving({ puts: 1 }, 0),
      n: moving({ 'put:o': 5, 'drop:o': 6 }),
    });
    for (const node of [old, next]) node.answer('BEGIN_RESHARD', ['moving', '', 0, 0, 3]);
    await beginReshard(context, undefined, { acceptOlder: ['o:1'] });
    expect(old.argsOf('CHECK_STATE')).toEqual([['id', 'server', 5, 6]]);
    expect(log.entries.slice(4)).toEqual(['o CHECK_STATE', 'n BEGIN_RESHARD', 'o BEGIN_RESHARD +1']);
    const fresh = world({ n: state('before', {}, 0) });
    await beginReshard(fresh.context, undefined);
    expect(fresh.next.argsOf('CHECK_STATE')).toEqual([['id', 'server', 0, 0]]);
    expect(fresh.old.argsOf('CHECK_STATE')).toEqual([]);
  });

  it('is not announced on a node that was accepted with older data in this round: the node begins at once', async () => {
    const begunOn = async (given: Parameters<typeof world>[0], round: number) => {
      const { context, old, next } = world(given);
      for (const node of [old, next]) node.answer('BEGIN_RESHARD', ['moving', '', 0, 0, round]);
      await beginReshard(context, undefined, { acceptOlder: ['o:1'] });
      return [old, next].map((node) => node.argsOf('PREPARE_RESHARD')[0]?.at(-1));
    };
    const lost = state('before', {}, 0);
    expect(await begunOn({ o: lost, n: moving({ 'drop:o': 6 }) }, 3)).toEqual(['begun', '']);
    // Nothing has moved, so that commands of processes may still be under way there.
    expect(await begunOn({ o: lost, n: moving() }, 3)).toEqual(['', '']);
    // After the resharding was given up, processes use the old owner.
    const aborted = state('aborted', { round: 3, 'drop:o': 6 });
    expect(await begunOn({ o: lost, n: aborted }, 4)).toEqual(['', '']);
  });

  it('comes first to a cluster, which gets an identity', async () => {
    const { context, log, old, next } = world({ isCluster: true });
    next.answer('HMGET', ['c']);
    await beginReshard(context, undefined);
    expect(log.entries.slice(4)).toEqual([
      ...['n HSETNX', 'n HMGET', 'o HSET', 'n BEGIN_RESHARD', 'n READ_STATE', 'n CHECK_STATE'],
      ...['n BEGIN_RESHARD', 'o BEGIN_RESHARD +1'],
    ]);
    expect(next.argsOf('CHECK_STATE')).toEqual([['id', 'server', 1, 1]]);
    expect(old.argsOf('HSET')[0]?.at(-1)).toBe('{"id":"c","nodes":["m1"],"masters":["m1:1"]}');
  });
});

describe('A resharding that is given up', () => {
  it('is stopped on one node after the other, before keys go back', async () => {
    const { context, log, old, next } = world({ o: moving({}, 0), n: moving({ round: 2 }) });
    expect(await stopReshard(context, undefined)).toEqual({ round: 3, lapsed: 0 });
    expect(log.entries.slice(2)).toEqual([
      ...['n STOP_RESHARD', 'o STOP_RESHARD', 'o CHECK_STATE', 'n STOP_RESHARD', 'o STOP_RESHARD +1'],
    ]);
    const args = ['id', 10_000, 'x → y', 3, ''];
    for (const node of [old, next]) expect(node.argsOf('STOP_RESHARD')).toEqual([args, args]);
  });

  it('tells the nodes which others are gone', async () => {
    const { context, old } = world({ o: moving(), n: moving(), gone: ['g'] });
    await stopReshard(context, undefined);
    expect(old.argsOf('STOP_RESHARD')[0]).toEqual(['id', 10_000, 'x → y', 3, '["g"]']);
  });

  it('is that of the first round if no node knows of one', async () => {
    expect(await stopReshard(world().context, undefined)).toEqual({ round: 1, lapsed: 0 });
  });

  it('waits until no process uses a node as a new owner, and counts all the dead', async () => {
    const { context, next } = world({ o: moving(), n: moving() });
    const replies = [
      ['stopping', '', 1, 4],
      ['stopping', '', 1, 2],
      ['returning', '', 0, 1],
    ];
    next.answer('STOP_RESHARD', ...replies);
    let result: unknown;
    void stopReshard(context, undefined).then((stopped) => {
      result = stopped;
    });
    await vi.advanceTimersByTimeAsync(19);
    expect(result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(result).toEqual({ round: 3, lapsed: 7 });
  });

  it('names the processes that still use a node after half a minute', async () => {
    const { context, next } = world({ o: moving(), n: moving() });
    next.answer('STOP_RESHARD', ['stopping', '', 6, 2]);
    let error: Error | undefined;
    void stopReshard(context, undefined).catch((thrown) => {
      error = thrown;
    });
    await vi.advanceTimersByTimeAsync(30_020);
    expect(error?.message).toContain('node n:1: giving the resharding up failed: 6 processes still run');
  });

  it('is refused by a node with another one', async () => {
    const { context, old } = world({ o: moving(), n: moving() });
    old.answer('STOP_RESHARD', ['other', 'v → w', 0, 0]);
    expect(await failure(stopReshard(context, undefined))).toBeInstanceOf(MisfitError);
  });
});

describe('The end of a resharding', () => {
  const finish = ({ context }: ReturnType<typeof world>, last?: 'aborted') => finishReshard(context, 3, last);
  const both = (reply: Reply, isChecked = 1) => {
    const nodes = world({ o: moving({}, isChecked), n: moving() });
    nodes.next.answer('FINISH_RESHARD', ['moving', '', 1, 3]);
    nodes.old.answer('FINISH_RESHARD', reply);
    return nodes;
  };

  it('is recorded on all nodes', async () => {
    const nodes = both(['done', '', 1, 3]);
    await finish(nodes);
    for (const node of [nodes.old, nodes.next])
      expect(node.argsOf('FINISH_RESHARD')).toEqual([['id', 'done', 3]]);
    expect(nodes.log.underWay).toBe(0);
  });

  it('does not come while a node has to be checked', async () => {
    const nodes = both(['moving', '', 1, 3], 0);
    expect((await failure(finish(nodes))).message).toContain(
      'node o:1: ending the resharding failed: it was',
    );
    expect(nodes.next.argsOf('FINISH_RESHARD')).toEqual([]);
  });

  it.each<[string, Reply, string]>([
    ['was started again', ['moving', 'v → w', 0, 3], 'it was started again. Run it again'],
    ['has begun another round', ['moving', 'v → w', 1, 4], 'given this one up (v → w)'],
    ['has given it up', ['stopping', 'v → w', 1, 3], 'given this one up (v → w)'],
  ])('fails on a node that %s', async (_, reply, message) => {
    const error = await failure(finish(both(reply)));
    expect(error.message).toContain('node o:1: ending the resharding failed');
    expect(error.message).toContain(message);
  });
});
