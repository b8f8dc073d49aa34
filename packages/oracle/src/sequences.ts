import {
  called,
  canMove,
  isLike,
  NUMBERS,
  type SequenceRow,
  type SequenceRows,
  type SqlRun,
  sequenceRow,
  signedBlockSize,
} from 'idsmith/internal/stores';
import type { Ask, OracleSession } from './client.js';
import { isFault } from './faults.js';

// Concatenation with an empty text turns a number into text, which the driver does not round. A null stays null.
const asText = (column: string) =>
  `CASE WHEN ${column} IS NULL THEN NULL ELSE ''||${column} END AS ${column}`;
const SELECT = `SELECT name, ${NUMBERS.map(asText).join(', ')}, ''||CASE WHEN exhausted <> 0 THEN 1 ELSE 0 END AS exhausted
  FROM id_sequences`;

const COLUMNS = [...NUMBERS, 'exhausted'];
const INSERT = `INSERT INTO id_sequences (name, ${COLUMNS.join(', ')})
  VALUES (:1, ${COLUMNS.map((_column, i) => `:${i + 2}`).join(', ')})`;
const UPDATE = `UPDATE id_sequences SET ${COLUMNS.map((column, i) => `${column} = :${i + 1}`).join(', ')}
  WHERE name = :${COLUMNS.length + 1}`;

/** The values of {@link COLUMNS}. */
function numbersOf(row: SequenceRow): (string | null)[] {
  const { start, next, step, min, max, cycle, generation, mark, exhausted } = row;
  const numbers = [start, next, signedBlockSize(row), step, min, max, cycle, generation, mark, exhausted];
  return numbers.map((value) =>
    value === undefined ? null : String(typeof value === 'boolean' ? Number(value) : value),
  );
}

/**
 * Sequence rows in Oracle. A change locks its row, decides on the row that it has read, and commits. Clients that change a row at the
 * same time wait for each other, and none of them has to try again.
 */
export function oracleRows(run: SqlRun, { ask, transact }: OracleSession): SequenceRows {
  /** Locks the row, and lets `change` look at it. */
  function locked<T>(
    what: string,
    name: string,
    change: (row: SequenceRow | undefined, ask: Ask) => Promise<T>,
  ): Promise<T> {
    return run(`${what} ${called(name)}`, () =>
      transact(async (send, wait) => {
        const { rows } = await send(`${SELECT} WHERE name = :1 FOR UPDATE WAIT ${wait}`, [name]);
        return change(rows[0] === undefined ? undefined : sequenceRow(rows[0]), send);
      }),
    );
  }
  const write = (send: Ask, row: SequenceRow) => send(UPDATE, [...numbersOf(row), row.name]);

  return {
    insert(row) {
      return run(`defining ${called(row.name)}`, async () => {
        try {
          await transact((send) => send(INSERT, [row.name, ...numbersOf(row)]));
          return true;
        } catch (error) {
          if (isFault(error, 'duplicate')) return false;
          throw error;
        }
      });
    },

    read(name) {
      return run(`reading ${called(name)}`, async () => {
        const { rows } = await ask(`${SELECT} WHERE name = :1`, [name]);
        return rows[0] === undefined ? undefined : sequenceRow(rows[0]);
      });
    },

    list() {
      return run('listing sequences', async () => (await ask(SELECT)).rows.map((row) => sequenceRow(row)));
    },

    swap(expected, next) {
      return locked('changing', expected.name, async (row, send) => {
        if (!isLike(row, expected, [])) return false;
        await write(send, { ...next, name: row.name });
        return true;
      });
    },

    delete({ name, generation }) {
      return locked('removing', name, async (row, send) => {
        if (row?.generation !== generation) return false;
        await send('DELETE FROM id_sequences WHERE name = :1', [row.name]);
        return true;
      });
    },

    advance(from, move, to) {
      const isAllocation = to === from;
      const what = isAllocation ? 'allocating from' : 'altering';
      return locked(what, from.name, async (row, send) => {
        if (!isLike(row, from, isAllocation ? ['next', 'mark', 'exhausted'] : ['next', 'exhausted']))
          return undefined;
        if (!canMove(row, move)) return undefined;
        const { mark } = isAllocation ? row : to;
        await write(send, { ...to, name: row.name, mark, exhausted: false, next: row.next + move.delta });
        return row.next;
      });
    },
  };
}
