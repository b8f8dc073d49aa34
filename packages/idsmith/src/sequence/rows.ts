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
import { isConfusing, refuseConfusing, requireSequenceName, requireStoredName } from './name.js';
import type { SequenceInfo, SequenceStore } from './port.js';

/**
 * The six operations on rows that a store implements, each of them atomic. A failure is a `StoreError`. Names are checked before.
 */
export interface SequenceRows {
  /** Inserts a row. Returns `false` when there is a row of its name. */
  insert(row: SequenceRow): Promise<boolean>;
  read(name: string): Promise<SequenceRow | undefined>;
  list(): Promise<SequenceRow[]>;
  /**
   * Replaces `expected` by `next`, which has the same name, if the stored row equals `expected` in every field. `next` has a fresh mark,
   * so that the same swap never succeeds a second time.
   *
   * @param vouched true when a caller has said where to go on, and so answers for ids that the store may have forgotten
   */
  swap(expected: SequenceRow, next: SequenceRow, vouched?: boolean): Promise<boolean>;
  /** Deletes the row, if the stored row has its generation. Returns whether the row was deleted. */
  delete(row: SequenceRow): Promise<boolean>;
  /**
   * Adds `delta` to `next` and sets the other fields as in `to`, which often is `from`. Nearly all changes are made in this way, in one
   * step, so that clients that change a row at the same time do not have to try again. The change is made if the row is not exhausted,
   * its `next` is from `low` to `high`, and the other fields are those of `from`. The `next` of `from` may be out of date. The mark is
   * compared only if `to` is another row than `from`; `to` has a fresh mark then.
   *
   * @param vouched as in `swap`
   * @returns the `next` before the change; `undefined` if nothing was changed
   */
  advance(from: SequenceRow, move: Move, to: SequenceRow, vouched?: boolean): Promise<bigint | undefined>;
}

/** The most times that a row is read again because others have changed it. */
const MAX_TRIES = 100;
const BACKOFF = { unit: 1, longest: 50, floor: 0 };

/** A sequence store on rows. */
export function sequenceStore(rows: SequenceRows): SequenceStore {
  /** The row of each sequence as it was last read. */
  const seen = new Map<string, SequenceRow>();

  async function read(name: string): Promise<SequenceRow> {
    const found = await rows.read(requireStoredName(name));
    if (found === undefined) {
      seen.delete(name);
      throw noSuchSequence(requireSequenceName(name));
    }
    seen.set(name, found);
    return found;
  }

  /**
   * Repeats `attempt` while others change the row between the steps: first on `row`, then on the row that is read again. The row is
   * read by the name that was asked for: its own name may be in another case, or have spaces at the end.
   */
  async function persist<T>(
    name: string,
    row: SequenceRow,
    attempt: (row: SequenceRow, isFresh: boolean) => Promise<T | undefined>,
  ): Promise<T> {
    let result = await attempt(row, false);
    for (let tries = 1; result === undefined; tries++) {
      if (tries > MAX_TRIES)
        throw new StoreError(
          `sequence ${show(name)} was changed by others ${tries} times in a row: try again later`,
        );
      if (tries > 1) await pause(systemTimer, backoff(tries, BACKOFF), false);
      result = await attempt(await read(name), true);
    }
    return result;
  }

  return {
    async defineSequence(definition) {
      const row = defineRow(definition, randomNumber());
      const confusing = isConfusing(row.name);
      if (confusing && (await rows.read(row.name)) === undefined) refuseConfusing(row.name);
      if (confusing || !(await rows.insert(row)))
        throw new SequenceExistsError(`sequence ${show(row.name)} is defined already`);
    },

    async alterSequence(name, changes) {
      return persist(name, await read(name), async (row) => {
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
      await persist(name, row, async (found) => (await rows.delete(found)) || undefined);
      seen.delete(name);
    },

    async allocate(name, blocks) {
      requireInteger('blocks', blocks, 1, MAX_BLOCKS);
      return persist(name, seen.get(name) ?? (await read(name)), async (row, isFresh) => {
        const move = plainMove(row, blocks);
        if (move !== undefined && (!isFresh || canMove(row, move))) {
          const to = named(row);
          const first = await rows.advance(row, move, to);
          if (first === undefined) return undefined;
          if (to !== row) seen.set(name, to);
          return withOrigin({ first, step: row.step, count: row.blockSize * blocks }, to.generation);
        }
        // The limit is near. A row that may be out of date cannot decide this.
        if (!isFresh) return undefined;
        const taken = takeBlocks(named(row), blocks);
        return (await rows.swap(row, marked(taken.row))) ? taken.block : undefined;
      });
    },

    async giveBack(name, tail) {
      if (!isBlock(tail)) refuse('tail', 'a run of ids: first, step and count', tail);
      const row = await rows.read(requireStoredName(name));
      const next = row && returnTail(row, tail);
      // One attempt is enough: if others have changed the row, they have allocated.
      return next !== undefined && (await rows.swap(row as SequenceRow, marked(next)));
    },
  };
}

function infoOf(row: SequenceRow): SequenceInfo {
  const { generation: _, mark: __, ...info } = row;
  return { ...info, exhausted: isOver(row) };
}

/** The row with a generation. A row of another program gets its generation at its first use. */
function named(row: SequenceRow): SequenceRow {
  return row.generation === 0 ? marked({ ...row, generation: randomNumber() }) : row;
}

/** The row with a fresh mark, for a swap or an alteration. */
export function marked(row: SequenceRow): SequenceRow {
  return { ...row, mark: String(randomNumber()) };
}

/** A new generation for a sequence that becomes a cycle or stops being one: tails from earlier rounds cannot come back. */
function newLife(row: SequenceRow, altered: SequenceRow): SequenceRow {
  return row.cycle === altered.cycle ? altered : { ...altered, generation: randomNumber() };
}

function noSuchSequence(name: string): NoSuchSequenceError {
  return new NoSuchSequenceError(`there is no sequence ${show(name)}`);
}

/** A number of 53 random bits. Never 0, which stands for rows of other programs. */
function randomNumber(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
  return (high & 0x1fffff) * 2 ** 32 + low || 1;
}
