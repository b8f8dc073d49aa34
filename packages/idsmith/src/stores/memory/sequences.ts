import { canMove, type SequenceRow } from '../../sequence/blocks.js';
import { isLike } from '../../sequence/row-match.js';
import type { SequenceRows } from '../../sequence/rows.js';

/** Sequence rows in the memory of this process. */
export function memoryRows(): SequenceRows {
  const rows = new Map<string, SequenceRow>();
  return {
    async insert(row) {
      if (rows.has(row.name)) return false;
      rows.set(row.name, row);
      return true;
    },

    async read(name) {
      return rows.get(name);
    },

    async list() {
      return [...rows.values()];
    },

    async swap(expected, next) {
      const row = rows.get(expected.name);
      if (!isLike(row, expected, [])) return false;
      rows.set(row.name, next);
      return true;
    },

    async delete({ name, generation }) {
      return rows.get(name)?.generation === generation && rows.delete(name);
    },

    async advance(from, move, to) {
      const row = rows.get(from.name);
      const isAllocation = to === from;
      if (!isLike(row, from, isAllocation ? ['next', 'mark'] : ['next'])) return undefined;
      if (!canMove(row, move)) return undefined;
      const { mark } = isAllocation ? row : to;
      rows.set(row.name, { ...to, mark, next: row.next + move.delta });
      return row.next;
    },
  };
}
