import { describe, expect, it } from 'vitest';
import {
  behindError,
  commonPhaseOf,
  findBehind,
  findOutdated,
  isMismatch,
  MismatchError,
  mismatchError,
  outdatedError,
  requireFit,
} from '../../src/reshard/compare-states.ts';
import type { ReshardContext } from '../../src/reshard/context.ts';
import { StalePhaseError } from '../../src/reshard/key-mover.ts';
import type { NodeConnection } from '../../src/reshard/node-connection.ts';
import { type NodeState, type ReshardPhase, readState, readStates } from '../../src/reshard/node-state.ts';

const state = (id: string, changes: Partial<NodeState> = {}): NodeState => ({
  address: `${id}:1`,
  id,
  phase: 'moving',
  about: 'x → y',
  isChecked: true,
  server: 's',
  round: 3,
  endedRound: 0,
  settings: '',
  cluster: '',
  gone: [],
  notes: new Map(),
  puts: 0,
  drops: 0,
  ...changes,
});

describe('The phase that all nodes together know', () => {
  const common = (...phases: ReshardPhase[]) =>
    commonPhaseOf(phases.map((phase, i) => state(`n${i}`, { phase })));

  it('is the furthest one', () => {
    expect(common()).toBe('before');
    expect(common('before', 'before')).toBe('before');
    expect(common('before', 'preparing')).toBe('preparing');
    expect(common('preparing', 'moving', 'before')).toBe('moving');
    expect(common('moving', 'stopping')).toBe('stopping');
    expect(common('returning', 'moving')).toBe('stopping');
    expect(common('stopping', 'aborted')).toBe('aborted');
    expect(common('aborted', 'moving', 'done')).toBe('done');
    expect(common('mismatch', 'other')).toBe('before');
  });

  it('is that of the latest round, unless another resharding has ended since', () => {
    const states = [state('a', { phase: 'done', round: 3 }), state('b', { phase: 'moving', round: 4 })];
    expect(commonPhaseOf(states)).toBe('moving');
    expect(commonPhaseOf([...states, state('c', { phase: 'before', endedRound: 3 })])).toBe('moving');
    expect(commonPhaseOf([...states, state('c', { phase: 'before', endedRound: 4 })])).toBe('before');
    for (const phase of ['before', 'mismatch'] as const)
      expect(commonPhaseOf([state('a'), state('b', { phase, round: 4 })]), phase).toBe('moving');
    expect(commonPhaseOf([state('a', { round: 1 })])).toBe('moving');
    expect(commonPhaseOf([state('a', { round: 0 })])).toBe('before');
  });
});

describe('States of a backup', () => {
  it('are those of a resharding from before another one that has ended', () => {
    const witness = state('w', { phase: 'before', round: 5, endedRound: 5 });
    const of = (phase: ReshardPhase, round: number) =>
      findOutdated([state('a', { phase, round }), state('o', { phase: 'before', endedRound: 2 }), witness]);
    for (const phase of ['preparing', 'moving', 'done', 'stopping', 'returning'] as const)
      expect(of(phase, 4), phase).toMatchObject([{ state: { id: 'a' }, witness: { id: 'w' } }]);
    for (const phase of ['before', 'aborted', 'other', 'mismatch'] as const)
      expect(of(phase, 4), phase).toEqual([]);
    expect(of('moving', 5)).toEqual([]);
    expect(findOutdated([state('a', { round: 0 })])).toEqual([]);
    const error = outdatedError(of('moving', 4)[0]!);
    expect(error.message).toContain(
      'node a:1 has the state of a backup: it knows phase moving of the resharding x → y in round 4, and node w:1 knows that ' +
        'another resharding ended in round 5.',
    );
  });
});

describe('Nodes that came back with less', () => {
  const noting = (puts: number, drops: number, changes: Partial<NodeState> = {}) =>
    state('w', { notes: new Map([['a', { puts, drops }]]), ...changes });
  const back = (changes: Partial<NodeState> = {}) =>
    state('a', { isChecked: false, puts: 5, drops: 7, ...changes });

  it('are those that were started again and lack steps', () => {
    expect(findBehind([back(), noting(5, 7)])).toEqual([]);
    expect(findBehind([back(), noting(4, 6)])).toEqual([]);
    expect(findBehind([back({ isChecked: true }), noting(9, 9)])).toEqual([]);
    expect(findBehind([back(), noting(6, 7)])).toEqual([
      {
        address: 'a:1',
        isOlder: true,
        known: { puts: 6, drops: 7 },
        own: 'phase moving, 5 batches received and 7 given away by this node',
        others: 'w:1 know: phase moving, 6 batches received and 7 given away by this node',
        consequences: 'keys that were moved to it and are missing there are lost',
      },
    ]);
    expect(findBehind([back(), noting(5, 8)])).toMatchObject([
      {
        isOlder: true,
        known: { puts: 5, drops: 8 },
        consequences: 'values that other nodes have are kept, and keys that were deleted since may come back',
      },
    ]);
    expect(findBehind([back(), noting(6, 8)])[0]!.consequences).toContain('lost; values');
  });

  it('are those that know nothing of a resharding that keys move in', () => {
    const blank = back({ phase: 'before', round: 0 });
    expect(findBehind([blank, noting(0, 0)])).toMatchObject([
      { own: 'nothing of it', isOlder: false, consequences: '', known: { puts: 0, drops: 0 } },
    ]);
    expect(findBehind([blank, noting(1, 0)])).toMatchObject([{ isOlder: true }]);
    expect(findBehind([blank, noting(0, 1)])).toMatchObject([{ isOlder: true }]);
    expect(findBehind([back({ phase: 'preparing' }), noting(0, 0)])).toMatchObject([
      { own: 'nothing of it', isOlder: false },
    ]);
    expect(findBehind([back({ round: 2 }), noting(5, 7)])).toMatchObject([{ own: 'nothing of it' }]);
    expect(findBehind([blank, state('w')])).toMatchObject([{ isOlder: false, known: { puts: 0, drops: 0 } }]);
    for (const phase of ['before', 'preparing'] as const)
      expect(findBehind([blank, noting(5, 5, { phase })]), phase).toEqual([]);
  });

  it('are told what several others know, and only those of the present round', () => {
    const states = [
      back({ puts: 1, drops: 1 }),
      noting(3, 2),
      state('v', { notes: new Map([['a', { puts: 2, drops: 4 }]]) }),
      state('old', { round: 2, notes: new Map([['a', { puts: 9, drops: 9 }]]) }),
      state('late', { phase: 'preparing' }),
    ];
    expect(findBehind(states)).toMatchObject([
      {
        known: { puts: 3, drops: 4 },
        others: 'w:1, v:1 know: phase moving, 3 batches received and 4 given away by this node',
      },
    ]);
  });

  it('are named with what to do, and nothing that could do harm unless it is needed', () => {
    const [older] = findBehind([back(), noting(6, 7)]);
    expect(behindError(older!).message).toContain(
      'acceptOlder (--accept-older a:1): keys that were moved to it',
    );
    const [blank] = findBehind([back({ phase: 'before', round: 0 }), noting(0, 0)]);
    expect(behindError(blank!).message).toMatch(/Run the resharding again: it goes on with this node$/);
    expect(behindError(blank!).message).not.toContain('acceptOlder');
  });
});

describe('The last resharding of a node', () => {
  const context = { description: 'y → z', sources: new Map([['a:1', {}]]) } as unknown as ReshardContext;
  const check = (changes: Partial<NodeState>, id = 'a') => {
    try {
      requireFit(context, [state('first', { phase: 'before' }), state(id, changes)]);
      return 'fits';
    } catch (error) {
      expect(error).toBeInstanceOf(MismatchError);
      return (error as Error).message;
    }
  };

  it('has to have ended, and to have left keys where this one begins', () => {
    expect(isMismatch('other', false)).toBe(true);
    expect([isMismatch('mismatch', true), isMismatch('mismatch', false)]).toEqual([true, false]);
    expect([isMismatch('moving', true), isMismatch('before', true)]).toEqual([false, false]);
    expect(check({ phase: 'moving' })).toBe('fits');
    expect(check({ phase: 'mismatch' }, 'b')).toBe('fits');
    expect(check({ phase: 'mismatch' })).toContain(
      'the last resharding there was x → y, and this one is y → z',
    );
    expect(check({ phase: 'other' }, 'b')).toContain('another resharding is not finished (x → y)');
    expect(mismatchError(context, 'q:1', 'other', 'p').message).toContain('node q:1: ');
  });
});

describe('The state of a node', () => {
  const fields = (given: Record<string, unknown>) => Object.entries(given).flat();
  const connection = (reply: unknown[], address = 'a:1') =>
    ({ address, id: 'a', run: async () => reply }) as unknown as NodeConnection;
  const read = (phase: string, given: Record<string, unknown>, isChecked = 1) =>
    readState(connection([phase, 'x → y', isChecked, 's', fields(given)]), 'id');

  it('is read with all that the node knows', async () => {
    const given = {
      phase: 'moving',
      round: 3,
      ended: 2,
      settings: '{"a":1}',
      cluster: 'c',
      gone: '["g"]',
      puts: 4,
      drops: 5,
      'put:b\nc': 6,
      'drop:b\nc': 7,
      'drop:d': 8,
      'xput:e': 1,
    };
    expect(await read('moving', given)).toEqual({
      address: 'a:1',
      id: 'a',
      phase: 'moving',
      about: 'x → y',
      isChecked: true,
      server: 's',
      round: 3,
      endedRound: 2,
      settings: '{"a":1}',
      cluster: 'c',
      gone: ['g'],
      notes: new Map([
        ['b\nc', { puts: 6, drops: 7 }],
        ['d', { puts: 0, drops: 8 }],
      ]),
      puts: 4,
      drops: 5,
    });
    // A value may be the name of a field.
    expect(await read('moving', { puts: 4, about: 'puts', round: 3 })).toMatchObject({ puts: 4, round: 3 });
    expect(await read('moving', {}, 0)).toMatchObject({
      isChecked: false,
      round: 0,
      endedRound: 0,
      settings: '',
      cluster: '',
      gone: [],
      puts: 0,
      drops: 0,
    });
  });

  it.each(['before', 'other', 'mismatch'])('has no steps and settings of another one: %s', async (phase) => {
    const given = {
      phase: 'moving',
      round: 3,
      ended: 1,
      puts: 4,
      drops: 5,
      'put:b': 6,
      settings: '{}',
      gone: '["g"]',
    };
    expect(await read(phase, given)).toMatchObject({
      round: 3,
      endedRound: 1,
      puts: 0,
      drops: 0,
      settings: '',
      gone: [],
      notes: new Map([['b', { puts: 0, drops: 0 }]]),
    });
  });

  it('tells when another resharding has ended there', async () => {
    const ended = async (phase: string, stored: string) =>
      (await read(phase, { phase: stored, round: 3, ended: 1 })).endedRound;
    expect(await ended('before', 'done')).toBe(3);
    expect(await ended('before', 'aborted')).toBe(3);
    expect(await ended('before', 'moving')).toBe(1);
    expect(await ended('done', 'done')).toBe(1);
    expect((await read('before', {})).endedRound).toBe(0);
  });

  it('is needed of every node, except of those that are gone', async () => {
    const silent = {
      address: 'c:1',
      run: () => Promise.reject(new Error('silent')),
    } as unknown as NodeConnection;
    const nodes = [
      connection(['moving', '', 1, 's', fields({ gone: '["c"]' })]),
      connection(['moving', '', 1, 's', []], 'b:1'),
      silent,
    ];
    const contextOf = (names: readonly string[]) => {
      const gone = new Set<string>();
      const addGone = (ids: readonly string[]) => {
        for (const id of ids) if (names.includes(id)) gone.add(`${id}:1`);
      };
      return { nodes, reshardId: 'id', gone, addGone } as unknown as ReshardContext;
    };
    expect((await readStates(contextOf(['c']))).map(({ address }) => address)).toEqual(['a:1', 'b:1']);
    await expect(readStates(contextOf([]))).rejects.toThrow('silent');
    const withoutB = contextOf(['c']);
    (withoutB.gone as Set<string>).add('b:1');
    expect((await readStates(withoutB)).map(({ address }) => address)).toEqual(['a:1']);
  });
});

describe('The error of a node in another phase', () => {
  const of = (reply: unknown[]) =>
    new StalePhaseError({ address: 'a:1' } as NodeConnection, 'reading keys', reply);

  it('tells what the node knows, or that it was started again', () => {
    const error = of(['stale', 'moving', 'x → y', '1', '4']);
    expect(error).toMatchObject({ phase: 'moving', about: 'x → y', isChecked: true, round: 4 });
    expect(error.message).toContain(
      'reading keys failed: another resharding has begun there, or this one has ended (phase moving',
    );
    expect(of(['stale', 'moving', 'x → y', '0', '4'])).toMatchObject({
      isChecked: false,
      message: expect.stringContaining('it was started again, and its state has to be checked'),
    });
  });
});
