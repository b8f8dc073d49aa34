import { describe, expect, it } from 'vitest';
import { StoreError } from '../../../../src/errors.ts';
import { STALE } from '../../../../src/redis/script-constants.ts';
import {
  type Direction,
  KeyMover,
  type KeyMoverOptions,
} from '../../../../src/shard/reshard/move/key-mover.ts';
import { StalePhaseError } from '../../../../src/shard/reshard/move/stale-phase-error.ts';
import { ScriptedNode, StepLog } from './scripted-node.ts';
import { MOVE_REPLIES, taken } from './usual-replies.ts';

const STEPS = ['n CLAIM_KEYS', 'o TAKE_KEYS', 'n PUT_KEYS', 'o DROP_KEYS', 'n SETTLE_KEYS'];
const NAME = /^[0-9a-f]{8}-/;

/** A mover in round 5, and the two nodes that it works with: the source `o` and the target `n`. */
function world({ isCluster = false, isBack = false, options = {} as Partial<KeyMoverOptions> } = {}) {
  const log = new StepLog();
  const source = new ScriptedNode(log, 'o', MOVE_REPLIES, isCluster && isBack);
  const target = new ScriptedNode(log, 'n', MOVE_REPLIES, isCluster && !isBack);
  const direction: Direction = isBack ? 'back' : 'out';
  const mover = new KeyMover('id', { round: 5, direction, ...options });
  const change = { source: source.connection, target: target.connection };
  const move = (keys: readonly string[], isRetry?: boolean) => mover.move(change, keys, isRetry);
  return { log, source, target, mover, move };
}

/** What the steps were told, without the name of the mover. */
const told = (node: ScriptedNode, script: string) =>
  node
    .argsOf(script)
    .map((args) => args.map((arg) => (typeof arg === 'string' ? arg.replace(NAME, '') : arg)));

/** A barrier that waits on these connections. */
function barrierOf(log: StepLog, before: string, after: string) {
  return {
    connections: () => log.step('connections', () => before),
    wait: () => log.step('wait', () => after),
  };
}

/** A mover with a barrier. */
function guarded(before: string, after: string, isCluster = false) {
  const given = { log: undefined as StepLog | undefined };
  const late = {
    connections: () => barrierOf(given.log as StepLog, before, after).connections(),
    wait: () => barrierOf(given.log as StepLog, before, after).wait(),
  };
  const made = world({ isCluster, options: { barrier: late } });
  given.log = made.log;
  return made;
}

describe('A move', () => {
  it('takes five steps, one after the other, with what the steps before have told', async () => {
    const { log, source, target, move } = world();
    const keys = ['a', 'b'];
    const result = await move(keys);
    expect(result).toEqual({ keys: 2, bytes: 3, superseded: 0, again: [], hasChanged: false, lost: [] });
    expect(log.entries).toEqual(STEPS);
    expect(log.underWay).toBe(0);
    const head = ['id', 'out', 5, 'a,b'];
    expect(told(target, 'CLAIM_KEYS')).toEqual([[...head, '1', 'idsmith:reshard:out']]);
    expect(told(source, 'TAKE_KEYS')).toEqual([[...head, '2', 524_288, 32]]);
    expect(told(target, 'PUT_KEYS')).toEqual([[...head, '1.3', expect.any(Uint8Array), '']]);
    expect(told(source, 'DROP_KEYS')).toEqual([[...head, '2.7', '2 digest', '', '', 'n', 1]]);
    expect(told(target, 'SETTLE_KEYS')).toEqual([[...head, '1.3', '', 'o', 9]]);
    expect(source.argsOf('TAKE_KEYS')[0]?.[4]).toMatch(/^[0-9a-f]{8}-2$/);
    // Lists that were packed once are not packed again.
    for (const list of [...source.lists, ...target.lists]) expect(list).toBe(keys);
  });

  it('has other names each time', async () => {
    const { source, move } = world();
    await move(['a']);
    await move(['a']);
    expect(told(source, 'TAKE_KEYS').map((args) => args[4])).toEqual(['2', '4']);
  });

  it('compares each value by itself when it is tried again', async () => {
    const { source, move } = world();
    await move(['a', 'b'], true);
    expect(told(source, 'TAKE_KEYS')[0]?.at(-1)).toBe(1);
  });

  it('waits for the hook after each step', async () => {
    const log = new StepLog();
    const made = world({
      options: { afterStep: (step) => log.step(step, () => made.log.entries.push(step)) },
    });
    await made.move(['a']);
    expect(made.log.entries).toEqual([
      ...['n CLAIM_KEYS', 'claimed', 'o TAKE_KEYS', 'taken', 'n PUT_KEYS', 'put', 'o DROP_KEYS', 'dropped'],
      ...['n SETTLE_KEYS', 'settled'],
    ]);
  });

  it('tells which node must not move keys now', async () => {
    const { source, move, log } = world();
    source.answer('TAKE_KEYS', [STALE, 'stopping', 'x → y', 1, 6]);
    const error = await move(['a']).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StalePhaseError);
    expect(error).toMatchObject({ phase: 'stopping', round: 6, node: { id: 'o' } });
    expect(log.entries).toEqual(STEPS.slice(0, 2));
  });

  it('ends when a value cannot be written', async () => {
    const { target, move, log } = world();
    target.answer('PUT_KEYS', ['e', 'OOM (a)', 1]);
    const error = await move(['a']).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toBe('node n:1: writing keys failed: OOM (a)');
    expect(log.entries).toEqual(STEPS.slice(0, 3));
  });

  it('does no more than it has to for keys that are absent', async () => {
    const { source, target, move, log } = world();
    source.answer('TAKE_KEYS', taken('aa'));
    expect(await move(['a', 'b'])).toMatchObject({ keys: 0, superseded: 0, again: [], lost: [] });
    expect(log.entries).toEqual(['n CLAIM_KEYS', 'o TAKE_KEYS', 'n SETTLE_KEYS']);
    expect(told(target, 'SETTLE_KEYS')[0]?.slice(3)).toEqual(['a,b', '1.3', '', 'o', 0]);
  });

  it('leaves keys for later that did not fit into the reply', async () => {
    const { source, target, move } = world();
    source.answer('TAKE_KEYS', taken('tl'));
    expect(await move(['a', 'b'])).toMatchObject({ keys: 1, again: ['b'], hasChanged: false });
    expect(told(target, 'SETTLE_KEYS')[0]?.[3]).toBe('a');
  });
});

describe('Keys that the target has', () => {
  it('are not written, and dropped at the source', async () => {
    const { source, target, move } = world();
    target.answer('CLAIM_KEYS', ['x.3', 'fct']);
    const result = await move(['a', 'b', 'c']);
    expect(result).toMatchObject({ keys: 2, bytes: 3, superseded: 1 });
    expect(told(target, 'PUT_KEYS')[0]?.[3]).toBe('a,b');
    expect(told(source, 'DROP_KEYS')[0]?.slice(3)).toEqual(['a,b,c', '2.7', '3 digest', '', '', 'n', 1]);
    expect(told(target, 'SETTLE_KEYS')[0]?.slice(3)).toEqual(['a,b', 'x.3', '', 'o', 9]);
  });

  it('are counted alone, too, and nobody waits for copies then', async () => {
    const { target, move, log } = guarded('7', '7');
    target.answer('CLAIM_KEYS', ['x.3', 't']);
    expect(await move(['a'])).toMatchObject({ keys: 0, bytes: 0, superseded: 1 });
    expect(log.entries).toEqual(['n CLAIM_KEYS', 'o TAKE_KEYS', 'connections', 'o DROP_KEYS']);
  });

  it('are found also by PUT, beside keys that another mover has claimed', async () => {
    const { source, target, move } = world();
    target.answer('PUT_KEYS', ['ctl', '', 4]);
    source.answer('DROP_KEYS', ['ddl', 9]);
    expect(await move(['a', 'b', 'c'])).toMatchObject({ keys: 1, bytes: 1, superseded: 1, lost: ['c'] });
    expect(told(source, 'DROP_KEYS')[0]?.slice(4)).toEqual(['2.7', '3 digest', '', 'ddk', 'n', 4]);
    expect(told(target, 'SETTLE_KEYS')[0]?.slice(3)).toEqual(['a', '1.3', '', 'o', 9]);
  });
});

describe('Keys that are written or deleted on the way', () => {
  it('are told apart', async () => {
    const { source, target, move } = world();
    source.answer('DROP_KEYS', ['dcol', 9]);
    target.answer('SETTLE_KEYS', ['ss']);
    expect(await move(['a', 'b', 'c', 'd'])).toEqual({
      ...{ keys: 1, bytes: 1, superseded: 0, again: ['b'], hasChanged: true, lost: ['d'] },
    });
    expect(told(target, 'SETTLE_KEYS')[0]?.slice(3)).toEqual(['c,a', '1.3', 'dk', 'o', 9]);
    expect(told(source, 'FREE_ORPHANS')).toEqual([['id', 'out', 5, 'c', '2.7']]);
  });

  it('are freed at the source when no mover has claimed their copies since', async () => {
    const { source, target, move, log } = world();
    target.answer('CLAIM_KEYS', ['x.3', 'fftf']);
    source.answer('TAKE_KEYS', taken('ooot'));
    target.answer('SETTLE_KEYS', ['sls']);
    expect(await move(['a', 'b', 'c', 'd'])).toMatchObject({ keys: 1, superseded: 0 });
    expect(told(target, 'SETTLE_KEYS')[0]?.slice(3)).toEqual(['a,b,d', 'x.3', 'ddk', 'o', 9]);
    expect(told(source, 'FREE_ORPHANS').map((args) => args[3])).toEqual(['c,a']);
    expect(log.underWay).toBe(0);
  });
});

describe('Copies', () => {
  it('are waited for on the connection that wrote them', async () => {
    const { log, move } = guarded('7', '7');
    expect(await move(['a'])).toMatchObject({ keys: 1 });
    expect(log.entries).toEqual([
      ...[
        'n CLAIM_KEYS',
        'o TAKE_KEYS',
        'connections',
        'n PUT_KEYS +1',
        'wait',
        'o DROP_KEYS',
        'n SETTLE_KEYS',
      ],
    ]);
  });

  it('are lost if the connection was made again', async () => {
    const { log, source, target, move } = guarded('7', '8');
    target.answer('PUT_KEYS', ['ctl', '', 1]);
    source.answer('DROP_KEYS', ['ldl', 9]);
    expect(await move(['a', 'b', 'c'])).toMatchObject({ keys: 0, superseded: 1, lost: ['a', 'c'] });
    expect(told(source, 'DROP_KEYS')[0]?.[7]).toBe('kdk');
    expect(log.entries.slice(-2)).toEqual(['wait', 'o DROP_KEYS']);
  });

  it('are not written when nobody knows the connection', async () => {
    const steps: string[] = [];
    const barrier = {
      connections: () => Promise.reject(new Error('silent')),
      wait: () => Promise.resolve(''),
    };
    const { move } = world({ options: { barrier, afterStep: (step) => steps.push(step) } });
    await expect(move(['a'])).rejects.toThrow('silent');
    expect(steps).toEqual(['claimed', 'taken']);
  });
});

describe('A cluster', () => {
  it('is asked whether it still has the copies, and notes the steps of the other node', async () => {
    const { log, source, target, move } = guarded('7', '7', true);
    target.answer('CLAIM_KEYS', ['x.1', 'ffff'], ['x.2', 'f']);
    target.answer('PUT_KEYS', ['cctl', '', 1], ['c', '', 1]);
    source.answer('DROP_KEYS', ['dldld', 9]);
    for (const [key, entry] of [
      ['a1', 'x.1! =1'],
      ['a2', 'x.1 =22'],
      ['b1', 'x.2! =5'],
    ] as const)
      target.entries.set(key, entry);
    const result = await move(['a1', 'a2', 'a3', 'a4', 'b1']);
    expect(told(target, 'PUT_KEYS').map((args) => args[4])).toEqual(['x.1', 'x.2']);
    expect(told(source, 'DROP_KEYS')[0]?.[7]).toBe('dkdkd');
    expect(result.lost).toEqual(['a2', 'a4']);
    expect(log.entries.slice(6)).toEqual([
      ...['wait', 'n entries of a1,a2', 'n entries of b1 +1', 'o DROP_KEYS', 'n NOTE_STEP'],
      ...['n SETTLE_KEYS', 'n SETTLE_KEYS +1'],
    ]);
    expect(target.argsOf('NOTE_STEP')).toEqual([['id', 5, 'drop:o', 9]]);
    expect(target.calls.find(({ script }) => script === 'CLAIM_KEYS')?.keys.slice(0, 3)).toEqual([
      ...['state{a}', 'idsmith:reshard:in{a}', 'a1'],
    ]);
  });

  it('notes no step that was not taken', async () => {
    const { source, move, log } = world({ isCluster: true });
    source.answer('TAKE_KEYS', taken('a'));
    await move(['a']);
    expect(log.entries).toEqual(['n CLAIM_KEYS', 'o TAKE_KEYS', 'n SETTLE_KEYS']);
  });

  it('notes the number 1, too', async () => {
    const { source, target, move } = world({ isCluster: true });
    target.entries.set('a', 'x.1! =1');
    target.answer('CLAIM_KEYS', ['x.1', 'f']);
    source.answer('DROP_KEYS', ['d', 1]);
    await move(['a']);
    expect(target.argsOf('NOTE_STEP')).toEqual([['id', 5, 'drop:o', 1]]);
  });

  it('notes steps also when keys leave it', async () => {
    const { source, move, log } = world({ isCluster: true, isBack: true });
    await move(['a']);
    expect(source.argsOf('NOTE_STEP')).toEqual([['id', 5, 'put:n', 1]]);
    expect(log.entries).toEqual([...STEPS.slice(0, 3), 'o NOTE_STEP', ...STEPS.slice(3)]);
    expect(source.argsOf('TAKE_KEYS')[0]?.slice(0, 4)).toEqual(['id', 'back', 5, '']);
  });
});
