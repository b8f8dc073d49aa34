import type { Reading } from '../../api/types.js';
import { flakeDiagram } from './flake.js';
import { keyDiagram } from './key.js';
import { uuidDiagram } from './uuid.js';

/** What a part of an id is about; each has a colour of its own. */
export type FieldKind = 'time' | 'counter' | 'process' | 'machine' | 'type' | 'random' | 'version' | 'unused';

/** Neighbouring cells that belong to one field. */
export interface Segment {
  /** What people call the field. A field may have several segments. */
  readonly field: string;
  readonly kind: FieldKind;
  /** How many cells it has. */
  readonly width: number;
}

/** An id as a row of cells, the highest first. */
export interface Diagram {
  readonly unit: 'bit' | 'base-62 digit';
  /** What stands in each cell: `0` and `1`, or digits. */
  readonly cells: string;
  /** From the first cell to the last, without gaps. */
  readonly segments: readonly Segment[];
}

/** How an id is laid out if it is to be read that way; nothing if there is nothing to be drawn. */
export function diagramOf(id: string, reading: Reading): Diagram | undefined {
  const text = id.trim();
  switch (reading.family) {
    case 'locality':
    case 'uuid':
      return uuidDiagram(text, reading);
    case 'flake':
      return flakeDiagram(text, String(reading.fields.layout));
    case 'key':
      return keyDiagram(text);
    default:
      return undefined;
  }
}

/** Fields in the order they come in, with all their cells together. */
export function fieldsOf({ segments, cells }: Diagram): (Segment & { readonly text: string })[] {
  const fields = new Map<string, Segment & { text: string }>();
  let at = 0;
  for (const segment of segments) {
    const text = cells.slice(at, at + segment.width);
    const known = fields.get(segment.field);
    const whole = known === undefined ? { ...segment, text } : merged(known, segment.width, text);
    fields.set(segment.field, whole);
    at += segment.width;
  }
  return [...fields.values()];
}

const merged = <T extends Segment & { text: string }>(field: T, width: number, text: string) => ({
  ...field,
  width: field.width + width,
  text: field.text + text,
});
