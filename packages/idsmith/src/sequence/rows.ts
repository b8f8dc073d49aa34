import { NoSuchSequenceError, SequenceExistsError, StoreError } from '../errors.js';
import { refuse, requireInteger, show } from '../options.js';
import { backoff } from '../support/backoff.js';
import { pause, systemTimer } from '../support/timer.js';
import { isBlock, withOrigin } from './block.js';
import {
  alterRow,
  canMove,
  defineRow,
  isOver,
  MAX_BLOCKS,
  type Move,
  plainChange,
  plainMove,
  returnTail,
  type SequenceRow,
  takeBlocks,
} from './blocks.js';
import { requireSequenceName } from './name.js';
import type { SequenceInfo, SequenceStore } from './port.js';

/**
 * How a store keeps the rows of its sequences: six operations, each atomic. A failure is a `StoreError`. Names have been
 * checked.
 */
export interface SequenceRows {
  /** Puts a row where none of its name is; returns whether it did. */
  insert(row: SequenceRow): Promise<boolean>;
  read(name: string): Promise<SequenceRow | undefined>;
  list(): Promise<SequenceRow[]>;
  /**
   * Puts `next` in the place of `expected`, which has the same name, if that is still there in every field. `next` has a fresh
   * mark, so that the same swap never succeeds a second time.
   *
   * @param vouched that somebody has said where to go on, and so answers for ids that the store may have forgotten
   */
  swap(expected: SequenceRow, next: SequenceRow, vouched?: boolean): Promise<boolean>;
  /** Deletes the row, if the one of its name is still of its generation; returns whether it did. */
  delete(row: SequenceRow): Promise<boolean>;
  /**
   * The way of nearly all changes, in one step, so that those who come at the same time do not have to try again: adds
   * `delta` to `next` and puts the other fields of `to`, which often is `from`. It does so if the row is not exhausted, its
   * `next` is within `low` and `high`, and the other fields are those of `from`, whose own `next` is from the past. The mark
   * is compared only if `to` is another row than `from`, and has a fresh one then.
   *
   * @param vouched as in `swap`
   * @returns `next` as it was before; `undefined` if nothing was done
   */
  advance(from: SequenceRow, move: Move, to: SequenceRow, vouched?: boolean): Promise<bigint | undefined>;
}

/** How often a row that others keep changing is read again. */
const MAX_TRIES = 100;
const BACKOFF = { unit: 1, longest: 50, floor: 0 };

/** A sequence store on rows. */
export function sequenceStore(rows: SequenceRows): SequenceStore {
  /** How each sequence was last seen. */
  const seen = new Map<string, SequenceRow>();

  async function read(name: string): Promise<SequenceRow> {
    const row = await rows.read(requireSequenceName(name));
    if (row === undefined) {
      seen.delete(name);
      throw noSuchSequence(name);
    }
    seen.set(name, row);
    return row;
  }

  /** Repeats `attempt`, first on `row` and then on the row as it is, while others change it between the steps. */
  async function persist<T>(
    row: SequenceRow,
    attempt: (row: SequenceRow, isFresh: boolean) => Promise<T | undefined>,
  ): Promise<T> {
    const { name } = row;
    let result = await attempt(row, false);
    for (let tries = 1; result === undefined; tries++) {
      if (tries > MAX_TRIES)
        throw new StoreError(`sequence ${show(name)} was changed by others ${tries} times in a row`);
      if (tries > 1) await pause(systemTimer, backoff(tries, BACKOFF), false);
      result = await attempt(await read(name), true);
    }
    return result;
  }

  return {
    async defineSequence(definition) {
      const row = defineRow(definition, randomNumber());
      if (!(await rows.insert(row)))
        throw new SequenceExistsError(`sequence ${show(row.name)} is defined already`);
    },

    async alterSequence(name, changes) {
      return persist(await read(name), async (row) => {
        const altered = marked(newLife(row, alterRow(row, changes)));
        const vouched = changes.next !== undefined;
        const move = plainChange(row, altered);
        const to = { ...altered, exhausted: false };
        const before = move && (await rows.advance(row, move, to, vouched));
        if (move !== undefined && before !== undefined) return infoOf({ ...to, next: before + move.delta });
        return (await rows.swap(row, altered, vouched)) ? infoOf(altered) : undefined;
      });
    },

    async describeSequence(name) {
      return infoOf(await read(name));
    },

    async listSequences() {
      const list = (await rows.list()).map(infoOf);
      return list.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async removeSequence(name) {
      const row = await read(name);
      seen.delete(name);
      await persist(row, async (found) => (await rows.delete(found)) || undefined);
      seen.delete(name);
    },

    async allocate(name, blocks) {
      requireInteger('blocks', blocks, 1, MAX_BLOCKS);
      return persist(seen.get(name) ?? (await read(name)), async (row, isFresh) => {
        const move = plainMove(row, blocks);
        if (move !== undefined && (!isFresh || canMove(row, move))) {
          const to = named(row);
          const first = await rows.advance(row, move, to);
          if (first === undefined) return undefined;
          if (to !== row) seen.set(name, to);
          return withOrigin({ first, step: row.step, count: row.blockSize * blocks }, to.generation);
        }
        // The end is near; but a row from the past does not know.
        if (!isFresh) return undefined;
        const taken = takeBlocks(named(row), blocks);
        return (await rows.swap(row, marked(taken.row))) ? taken.block : undefined;
      });
    },

    async giveBack(name, tail) {
      if (!isBlock(tail)) refuse('tail', 'a run of ids: first, step and count', tail);
      const row = await rows.read(requireSequenceName(name));
      const next = row && returnTail(row, tail);
      // One attempt: if others come in between, they have allocated.
      return next !== undefined && (await rows.swap(row as SequenceRow, marked(next)));
    },
  };
}

function infoOf(row: SequenceRow): SequenceInfo {
  const { generation: _, mark: __, ...info } = row;
  return { ...info, exhausted: isOver(row) };
}

/** The row with a generation: one that another program has made gets it when it is first used. */
function named(row: SequenceRow): SequenceRow {
  return row.generation === 0 ? marked({ ...row, generation: randomNumber() }) : row;
}

/** The row with a fresh mark, as every swap and every alteration must put one. */
export function marked(row: SequenceRow): SequenceRow {
  return { ...row, mark: String(randomNumber()) };
}

/** A sequence that was a cycle is another one when it no longer is: what was taken in earlier rounds cannot come back. */
function newLife(row: SequenceRow, altered: SequenceRow): SequenceRow {
  return row.cycle === altered.cycle ? altered : { ...altered, generation: randomNumber() };
}

function noSuchSequence(name: string): NoSuchSequenceError {
  return new NoSuchSequenceError(`there is no sequence ${show(name)}`);
}

/** 53 random bits. Not 0, which stands for rows that other programs have made. */
function randomNumber(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
  return (high & 0x1fffff) * 2 ** 32 + low || 1;
}
