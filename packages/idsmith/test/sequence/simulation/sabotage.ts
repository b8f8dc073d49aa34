import type { SequenceStore } from 'idsmith';
import { type Ceiling, COVERED_LOSS } from '../../../src/lineage/ceiling.ts';
import { partOf } from '../../../src/sequence/block.ts';
import { canMove, type SequenceRow } from '../../../src/sequence/blocks.ts';
import type { CeilingRecords } from '../../../src/sequence/past.ts';
import type { SequenceRows } from '../../../src/sequence/rows.ts';
import { isLike } from '../../../src/sequence/rows.ts';
import { RewindingServer } from '../../lineage/rewinding-store.ts';
import type { Sabotage } from './simulation.ts';

/** What a store does wrong. */
interface Flaws {
  /** Fields that a swap does not compare; `all` for a swap that compares nothing. */
  readonly swapIgnores?: readonly (keyof SequenceRow)[] | 'all';
  /** Adds to the place that the client has read, and not to the place in the store. */
  readonly addsToRead?: boolean;
  /** One of so many allocations is answered and not kept. */
  readonly forgetsOneOf?: number;
  /** All rows have the same generation. */
  readonly generation?: number;
}

/** A store with flaws. Without any it does what the memory store does. */
function flawed(flaws: Flaws): Sabotage {
  const { swapIgnores = [], addsToRead, forgetsOneOf = Number.POSITIVE_INFINITY, generation } = flaws;
  const kept = (row: SequenceRow) => (generation === undefined ? row : { ...row, generation });
  const make = (): SequenceRows => {
    const rows = new Map<string, SequenceRow>();
    let moves = 0;
    return {
      insert: async (row) => !rows.has(row.name) && rows.set(row.name, kept(row)).size > 0,
      read: async (name) => rows.get(name),
      list: async () => [...rows.values()],
      delete: async ({ name }) => rows.delete(name),
      async swap(expected, next) {
        const row = rows.get(expected.name);
        if (!row || (swapIgnores !== 'all' && !isLike(row, expected, swapIgnores))) return false;
        rows.set(row.name, kept(next));
        return true;
      },
      async advance(from, move, to) {
        const row = rows.get(from.name);
        const isAllocation = to === from;
        if (!isLike(row, from, isAllocation ? ['next', 'mark'] : ['next']) || !canMove(row, move))
          return undefined;
        const first = addsToRead && isAllocation ? from.next : row.next;
        const mark = isAllocation ? row.mark : to.mark;
        const isForgotten = ++moves % forgetsOneOf === 0;
        if (!isForgotten) rows.set(row.name, kept({ ...to, mark, next: first + move.delta }));
        return first;
      },
    };
  };
  return { rows: make };
}

/** Comes between a sequence and its store when ids are given back. */
function returning(giveBack: (store: SequenceStore, ...tail: Returned) => Promise<boolean>): Sabotage {
  return { tamper: (store) => ({ ...store, giveBack: (...tail) => giveBack(store, ...tail) }) };
}

type Returned = Parameters<Required<SequenceStore>['giveBack']>;

const returned = (store: SequenceStore, ...tail: Returned) =>
  (store as Required<SequenceStore>).giveBack(...tail);

/** A server that goes back and says nothing of it. */
class SilentServer extends RewindingServer {
  override get lineage(): string {
    return 'life 0';
  }
}

/** A server that tells ceilings a minute older than they are, so that they are used while a loss may still take them. */
class HastyServer extends RewindingServer {
  override rows(): ReturnType<RewindingServer['rows']> {
    const rows = super.rows();
    const originals = new WeakMap<Ceiling, Ceiling>();
    const older = (past: Ceiling) => {
      const told = { ...past, writtenAt: past.writtenAt - COVERED_LOSS };
      originals.set(told, past);
      return told;
    };
    const { read, write } = rows.past;
    const past: CeilingRecords = {
      ...rows.past,
      async read(name) {
        const told = await read(name);
        return { ...told, past: told.past && older(told.past) };
      },
      write: (name, expected, next) => write(name, expected && (originals.get(expected) ?? expected), next),
    };
    return { ...rows, past };
  }
}

/** What is wrong, by what it is: each must be found out within a few seeds. */
export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  'a store swaps without a look at the mark': flawed({ swapIgnores: ['mark'] }),
  'a store swaps whatever is there': flawed({ swapIgnores: 'all' }),
  'a store adds to what a client has read': flawed({ addsToRead: true }),
  'a store answers and forgets': flawed({ forgetsOneOf: 10 }),
  'a store does not tell one life of a sequence from the next': flawed({ generation: 7 }),
  'a client gives back an id more than is unused': returning((store, name, tail) =>
    returned(store, name, partOf(tail, -1, tail.count + 1)),
  ),
  'a client gives a tail back again when no answer has come': returning((store, ...tail) =>
    returned(store, ...tail).catch(() => returned(store, ...tail)),
  ),
  'a store that goes back tells the same lineage': { Rewinding: SilentServer },
  'a ceiling is used before it is old enough': { Rewinding: HastyServer },
};
