import type { Diagram, FieldKind } from './diagram.js';

/** Neighbouring cells of one field in one row. */
export interface Run {
  readonly field: string;
  readonly kind: FieldKind;
  /** The column of the first cell. */
  readonly column: number;
  readonly cells: string;
  /** False if the field continues from the row before, or into the next row. */
  readonly isWhole: boolean;
}

/** Cuts a diagram into rows of `columns` cells. */
export function rowsOf({ cells, segments }: Diagram, columns: number): Run[][] {
  const rows: Run[][] = Array.from({ length: Math.ceil(cells.length / columns) }, () => []);
  let at = 0;
  for (const { field, kind, width } of segments) {
    const end = at + width;
    for (let from = at; from < end; ) {
      const row = Math.floor(from / columns);
      const to = Math.min(end, (row + 1) * columns);
      const isWhole = from === at && to === end;
      rows[row]?.push({ field, kind, column: from % columns, cells: cells.slice(from, to), isWhole });
      from = to;
    }
    at = end;
  }
  return rows;
}
