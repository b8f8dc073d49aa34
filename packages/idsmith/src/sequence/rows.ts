import { NoSuchSequenceError, SequenceExistsError, StoreError } from '../errors.js';
import { refuse, requireChoice, requireInteger, show } from '../options.js';
import { backoff } from '../support/retry.js';
import { pause, systemTimer } from '../support/timer.js';
import { endOf, isBlock, withOrigin } from './block.js';
import {
  alterRow,
  canMove,
  defineRow,
  isOver,
  MAX_BLOCKS,
  type Move,
  plainChange,
  plainMove,
  positionOf,
  returnTail,
  type SequenceRow,
  settle,
  takeBlocks,
} from './blocks.js';
import { isConfusing, refuseConfusing, requireSequenceName, requireStoredName } from './name.js';
import { type BareRecords, type CeilingRecords, isAtRest, SequencePasts } from './past.js';
import type { SequenceInfo, SequenceStore } from './port.js';

/**
 * The six operations on rows that a store implements, each of them atomic. A failure is a `StoreError`. Names are checked before.
 */
export interface SequenceRows {
  /**
   * Inserts a row. Returns `false` when there is a row of its name, or the store has another lineage than the row.
   *
   * @param isConfirmed true when a person has said that the row begins beyond all numbers that the store may have lost
   * @throws StoreError when the store may have lost a row of this name, unless a person has said so
   */
  insert(row: SequenceRow, isConfirmed?: boolean): Promise<boolean>;
  read(name: string): Promise<SequenceRow | undefined>;
  list(): Promise<SequenceRow[]>;
  /**
   * Replaces `expected` by `next`, which has the same name, if the stored row equals `expected` in every field. `next` has a fresh mark,
   * so that the same swap never succeeds a second time.
   */
  swap(expected: SequenceRow, next: SequenceRow): Promise<boolean>;
  /** Deletes the row, if the stored row has its generation. Returns whether the row was deleted. */
  delete(row: SequenceRow): Promise<boolean>;
  /**
   * Adds `delta` to `next` and sets the other fields as in `to`, which often is `from`. Nearly all changes are made in this way, in one
   * step, so that clients that change a row at the same time do not have to try again. The change is made if the row is not exhausted,
   * its `next` is from `low` to `high`, and the other fields are those of `from`. The `next` of `from` may be out of date. The mark is
   * compared only if `to` is another row than `from`; `to` has a fresh mark then.
   *
   * @returns the `next` before the change; `undefined` if nothing was changed
   */
  advance(from: SequenceRow, move: Move, to: SequenceRow): Promise<bigint | undefined>;
  /**
   * What the store remembers beside the rows, where it can tell its lineage. Then `read` gives rows with the lineage of that moment, and
   * `insert`, `swap`, `delete` and `advance` change nothing once the store has another lineage than the row.
   */
  readonly past?: CeilingRecords | BareRecords;
}

/** The most times that a row is read again because others have changed it. */
const MAX_TRIES = 100;
const BACKOFF = { unit: 1, longest: 50, floor: 0 };

/** A sequence store on rows. */
export function sequenceStore(rows: SequenceRows): SequenceStore {
  /** The row of each sequence as it was last read. */
  const seen = new Map<string, SequenceRow>();
  const pasts = rows.past && new SequencePasts(rows.past);
  let lineage: string | undefined;

  async function read(name: string): Promise<SequenceRow> {
    const found = await rows.read(requireStoredName(name));
    if (found === undefined) {
      seen.delete(name);
      throw noSuchSequence(requireSequenceName(name));
    }
    lineage = found.lineage;
    if (pasts === undefined || pasts.isKnown(found)) seen.set(name, found);
    return found;
  }

  /** The row of a sequence from which numbers may be taken. If the store has gone back, the sequence first moves on. */
  async function readTrusted(name: string): Promise<SequenceRow> {
    if (pasts === undefined) return read(name);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const row = await read(name);
      const verdict = await pasts.judge(row);
      if (verdict?.kind === 'go-on') {
        seen.set(name, row);
        return row;
      }
      if (verdict?.kind === 'continue-at') {
        // Another generation: what was taken before the loss cannot be given back.
        const moved = marked({ ...settle(row, verdict.next), generation: randomNumber() });
        if ((await rows.swap(row, moved)) && (await pasts.confirm(moved))) pasts.tellMoved(row, verdict.next);
      }
      if (tries > 1) await pause(systemTimer, backoff(tries, BACKOFF), false);
    }
    throw otherLineages(name);
  }

  /**
   * Repeats `attempt` while others change the row between the steps: first on `row`, then on the row that is read again. The row is
   * read by the name that was asked for: its own name may be in another case, or have spaces at the end.
   */
  async function persist<T>(
    name: string,
    row: SequenceRow,
    attempt: (row: SequenceRow, isFresh: boolean) => Promise<T | undefined>,
    readAgain = readTrusted,
  ): Promise<T> {
    let result = await attempt(row, false);
    for (let tries = 1; result === undefined; tries++) {
      if (tries > MAX_TRIES)
        throw new StoreError(
          `sequence ${show(name)} was changed by others ${tries} times in a row: try again later`,
          { reason: 'CONFLICT' },
        );
      if (tries > 1) await pause(systemTimer, backoff(tries, BACKOFF), false);
      result = await attempt(await readAgain(name), true);
    }
    return result;
  }

  return {
    warnings: () => pasts?.warnings ?? [],
    lineageRead: () => lineage,
    settled: async () => pasts?.settled(),
    ...(pasts &&
      rows.past?.hasCeilings && {
        confirmNames: () => pasts.vouch(),
        doubtNames: (since = Infinity) => pasts.doubt(since),
        areNamesDoubted: () => pasts.isDoubtful(),
      }),

    async defineSequence(definition) {
      const isConfirmed = requireChoice('lost', definition.lost, [false, true]);
      if (isConfirmed && definition.start === undefined)
        refuse('start', 'a number beyond all that the lost sequence has given out', undefined);
      const defined = defineRow(definition, randomNumber());
      // A lost sequence goes on. Its own start is not known, so programs that define it with theirs find it.
      const row = isConfirmed ? { ...defined, start: undefined } : defined;
      const notBefore = requireInteger('notBefore', definition.notBefore ?? 0, 0, Number.MAX_SAFE_INTEGER);
      const isThere = async () => (await rows.read(row.name)) !== undefined;
      const exists = new SequenceExistsError(`sequence ${show(row.name)} is defined already`);
      if (isConfusing(row.name)) throw (await isThere()) ? exists : refuseConfusing(row.name);
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        // Whoever confirms a sequence has said that it begins beyond all that is lost.
        const birth = await pasts?.prepare(row, isConfirmed ? Number.MAX_SAFE_INTEGER : notBefore);
        if (birth?.refusal) throw (await isThere()) ? exists : birth.refusal();
        if (await rows.insert(birth?.row ?? row, isConfirmed)) return birth?.begin();
        // Somebody was quicker, or the store has just changed its lineage.
        if (await isThere()) throw exists;
        await pause(systemTimer, backoff(tries, BACKOFF), false);
      }
      throw otherLineages(row.name);
    },

    async alterSequence(name, changes) {
      // Who says where to go on answers for numbers that the store may have lost.
      const isAuthoritative = changes.next !== undefined;
      const look = isAuthoritative && rows.past?.hasCeilings !== true ? read : readTrusted;
      const attempt = async (row: SequenceRow) => {
        const altered = marked(newLife(row, alterRow(row, changes)));
        const move = plainChange(row, altered);
        const to = { ...altered, exhausted: false };
        const before = move && (await rows.advance(row, move, to));
        const isMoved = move !== undefined && before !== undefined;
        if (!isMoved && !(await rows.swap(row, altered))) return undefined;
        const result = isMoved ? { ...to, next: before + move.delta } : altered;
        if (isAuthoritative && pasts && !(await pasts.confirm(result))) return undefined;
        pasts?.note(result, positionOf(result));
        return infoOf(result);
      };
      return persist(name, await look(name), attempt, look);
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
      await persist(name, row, async (found) => (await rows.delete(found)) || undefined, read);
      seen.delete(name);
      pasts?.forget(row.name);
    },

    async allocate(name, blocks) {
      requireInteger('blocks', blocks, 1, MAX_BLOCKS);
      return persist(name, seen.get(name) ?? (await readTrusted(name)), async (row, isFresh) => {
        const move = plainMove(row, blocks);
        if (move !== undefined && (!isFresh || canMove(row, move))) {
          const to = named(row);
          const first = await rows.advance(row, move, to);
          if (first === undefined) return undefined;
          if (to !== row) seen.set(name, to);
          pasts?.note(row, first + move.delta);
          return withOrigin({ first, step: row.step, count: row.blockSize * blocks }, to.generation);
        }
        // The limit is near. A row that may be out of date cannot decide this.
        if (!isFresh) return undefined;
        const taken = takeBlocks(named(row), blocks);
        if (!(await rows.swap(row, marked(taken.row)))) return undefined;
        pasts?.note(row, endOf(taken.block));
        return taken.block;
      });
    },

    async trust(name) {
      const { lineage, generation } = await readTrusted(name);
      return { lineage, generation };
    },

    noteTaken: (row, position) => pasts?.note(row as SequenceRow, position),

    async restoreSequence(name, witness) {
      return persist(
        name,
        await read(name),
        async (row) => {
          if (witness && (rows.past?.hasCeilings !== true || row.generation !== witness.instead.origin))
            return { next: undefined };
          const next = await pasts?.placeAfterRestore(row, witness?.seen);
          if (isAtRest(row)) return { next: positionOf(row) };
          if (next === undefined) return { next };
          // Another generation: what was taken before cannot be given back.
          const moved = marked({ ...settle(row, next), generation: randomNumber() });
          return (await rows.swap(row, moved)) && (await pasts?.recordAgain(moved)) ? { next } : undefined;
        },
        read,
      );
    },

    async giveBack(name, tail) {
      if (!isBlock(tail)) refuse('tail', 'a run of ids: first, step and count', tail);
      const row = await rows.read(requireStoredName(name));
      // A row that the store has lost and that has grown again is another generation.
      if (row !== undefined && pasts && (await pasts.judge(row))?.kind !== 'go-on') return false;
      const next = row && returnTail(row, tail);
      // One attempt is enough: if others have changed the row, they have allocated.
      return next !== undefined && (await rows.swap(row as SequenceRow, marked(next)));
    },
  };
}

function infoOf(row: SequenceRow): SequenceInfo {
  const { generation: _, mark: __, lineage: ___, ...info } = row;
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

/** Tells whether a row equals another one in every field, except for those that are named. */
export function isLike(
  row: SequenceRow | undefined,
  other: SequenceRow,
  except: readonly (keyof SequenceRow)[],
): row is SequenceRow {
  return row !== undefined && keysOf(other).every((key) => except.includes(key) || row[key] === other[key]);
}

const keysOf = (row: SequenceRow) => Object.keys(row) as (keyof SequenceRow)[];

function otherLineages(name: string): StoreError {
  return new StoreError(
    `the store changed its lineage ${MAX_TRIES} times while sequence ${show(name)} was read or defined: try again later`,
    { reason: 'CONFLICT' },
  );
}

function noSuchSequence(name: string): NoSuchSequenceError {
  return new NoSuchSequenceError(`there is no sequence ${show(name)}`);
}

/** A number of 53 random bits. Never 0, which stands for rows of other programs. */
export function randomNumber(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
  return (high & 0x1fffff) * 2 ** 32 + low || 1;
}
