import { describe, expect, it } from 'vitest';
import type { ReshardContext } from '../../../../src/shard/reshard/context.ts';
import type { Direction, KeyMover } from '../../../../src/shard/reshard/move/key-mover.ts';
import { settleLeftovers } from '../../../../src/shard/reshard/move/settle-leftovers.ts';
import { INCOMING_KEY, OUTGOING_KEY } from '../../../../src/shard/reshard/reserved-keys.ts';
import { StepLog } from './scripted-node.ts';

type Lists = Partial<Record<'o in' | 'o out' | 'n in' | 'n out', readonly string[]>>;

/** Nodes with entries in their lists. Keys leave the node `o` for `n`, and those that begin with `s` stay. */
function world(lists: Lists, result = { again: [] as string[], lost: [] as string[] }) {
  const log = new StepLog();
  const [old, next] = ['o', 'n'].map((id) => {
    const nameOf = (list: string) => `${id} ${list === INCOMING_KEY ? 'in' : 'out'}`;
    return {
      address: `${id}:1`,
      listedKeys: async (list: string) => lists[nameOf(list) as keyof Lists] ?? [],
      readEntries: (list: string, keys: readonly string[]) =>
        log.step(`read ${nameOf(list)}: ${keys}`, () => new Map(keys.map((key) => [key, `entry of ${key}`]))),
      unlist: (list: string, entries: ReadonlyMap<string, string>) =>
        log.step(`unlist ${nameOf(list)}: ${[...entries.values()]}`, () => undefined),
    };
  });
  const change = { source: old, target: next };
  const gone = new Set<string>();
  const context = {
    ...{ nodes: [old, next], gone },
    ownerChangeOf: (stem: string) => (stem.startsWith('s') ? undefined : change),
  } as unknown as ReshardContext;
  const mover = {
    move: (_: unknown, keys: readonly string[]) =>
      log.step(`move ${keys.length > 3 ? keys.length : keys}`, () => result),
  } as unknown as KeyMover;
  const settle = (direction?: Direction) => settleLeftovers(context, mover, direction);
  return { log, gone, settle };
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`);

describe('Moves that killed movers left unfinished', () => {
  it('are finished, a hundred at a time', async () => {
    expect(OUTGOING_KEY).not.toBe(INCOMING_KEY);
    const { log, settle } = world({ 'o out': many(250), 'n in': many(200) });
    expect(await settle()).toBe(450);
    expect(log.entries.filter((entry) => entry.startsWith('move'))).toEqual([
      ...['move 100', 'move 100', 'move 100', 'move 100', 'move 50'],
    ]);
    expect(log.underWay).toBe(0);
  });

  it('are counted, and left alone, if the key stays', async () => {
    const { log, settle } = world({ 'o out': ['a', 's', 'b'] });
    expect(await settle()).toBe(3);
    expect(log.entries).toEqual(['move a,b', 'unlist o out: ']);
  });

  it('remain in the lists until their keys are moved out', async () => {
    const { log, settle } = world({ 'o in': ['a'], 'o out': ['b'], 'n in': ['c'], 'n out': ['d'] });
    expect(await settle('out')).toBe(4);
    expect(log.entries.filter((entry) => entry.startsWith('read'))).toEqual([]);
  });

  it('of the other direction are removed from the lists after their keys are back', async () => {
    const lists = { 'o in': ['a', 'b', 'c'], 'o out': ['d'], 'n in': ['e'], 'n out': ['f'] };
    const { log, settle } = world(lists, { again: ['b'], lost: ['c'] });
    expect(await settle('back')).toBe(6);
    expect(log.entries).toEqual([
      ...['read o in: a,b,c', 'move a,b,c', 'unlist o in: entry of a'],
      ...['move e', 'unlist n in: '],
      ...['move d', 'unlist o out: '],
      ...['read n out: f', 'move f', 'unlist n out: entry of f'],
    ]);
  });

  it.each(['o:1', 'n:1'])('are only removed if %s is gone', async (address) => {
    const { log, gone, settle } = world({ 'n in': ['a'] });
    gone.add(address);
    expect(await settle()).toBe(1);
    expect(log.entries).toEqual(['read n in: a', 'unlist n in: entry of a']);
    expect(log.underWay).toBe(0);
  });
});
