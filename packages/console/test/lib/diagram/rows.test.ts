import { describe, expect, it } from 'vitest';
import { diagramOf } from '../../../src/lib/diagram/diagram.ts';
import { rowsOf } from '../../../src/lib/diagram/rows.ts';

describe('rows of a diagram', () => {
  it('cut fields that do not end with a row, and lose no cell', () => {
    const id = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
    const diagram = diagramOf(id, { family: 'locality', fields: { version: 'b' } })!;
    const rows = rowsOf(diagram, 32);
    expect(rows).toHaveLength(4);
    expect(
      rows
        .flat()
        .map(({ cells }) => cells)
        .join(''),
    ).toBe(diagram.cells);
    expect(rows.map((row) => row.map(({ field }) => field))).toEqual([
      ['counter'],
      ['process id', 'version', 'MAC fragment'],
      ['MAC fragment', 'time'],
      ['time'],
    ]);
  });
});
