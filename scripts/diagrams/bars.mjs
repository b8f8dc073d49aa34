// Ids as bars: each field as wide as it is long, the highest bit on the left.

import { box, picture, text, WIDTH } from './svg.mjs';

const LEFT = 96;
const RIGHT = 8;
const ROW = 46;
const BAR = 28;
/** The width of a letter and the room beside the text. A field that is narrower has its number alone, and its name below. */
const LETTER = 8;
const ROOM = 10;
/** Half the width of a letter below a bar. */
const SMALL_LETTER = 3;

/** @param rows `{ name, fields: [{ name, size }] }`, all drawn to one scale */
export function bars(title, rows, unit) {
  const most = Math.max(...rows.map(({ fields }) => sum(fields)));
  const scale = (WIDTH - LEFT - RIGHT) / most;
  const body = rows.flatMap((row, i) => drawRow(row, i * ROW + 8, scale, unit));
  return picture(title, rows.length * ROW + 16, body);
}

function drawRow({ name, fields }, top, scale, unit) {
  const drawn = [text(0, top + 19, name)];
  // Rows are aligned at their lowest bit, as numbers are.
  let nameEnd = 0;
  let x = WIDTH - RIGHT - sum(fields) * scale;
  for (const field of fields) {
    const width = field.size * scale;
    const middle = x + width / 2;
    const label = `${field.name} ${field.size}`;
    const isNarrow = width < label.length * LETTER + ROOM;
    drawn.push(box(x, top, width - 2, BAR, field.name));
    drawn.push(
      text(middle - 1, top + 18, isNarrow ? field.size : label, {
        of: 'on',
        anchor: 'middle',
      }),
    );
    if (isNarrow) {
      const half = field.name.length * SMALL_LETTER;
      // A name that would run into its neighbour stands one line lower.
      const below = middle - half < nameEnd ? BAR + 23 : BAR + 12;
      nameEnd = middle + half;
      drawn.push(text(middle - 1, top + below, field.name, { of: 'small', anchor: 'middle' }));
    }
    x += width;
  }
  drawn.push(text(0, top + 33, `${sum(fields)} ${unit}`, { of: 'small' }));
  return drawn;
}

const sum = (fields) => fields.reduce((total, { size }) => total + size, 0);
