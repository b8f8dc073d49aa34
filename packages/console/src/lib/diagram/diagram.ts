import type { Reading } from '../../api/types.js';
import { flakeDiagram } from './flake.js';
import { keyDiagram } from './key.js';
import { uuidDiagram } from './uuid.js';

/** The kind of a field. Each kind has its own colour. */
export type FieldKind = 'time' | 'counter' | 'process' | 'machine' | 'type' | 'random' | 'version' | 'unused';

/** Neighbouring cells that belong to one field. */
export interface Segment {
  /** The name of the field. A field can have several segments. */
  readonly field: string;
  readonly kind: FieldKind;
  /** The number of cells. */
  readonly width: number;
}

/** An id as a row of cells, the most significant first. */
export interface Diagram {
  readonly unit: 'bit' | 'base-62 digit';
  /** One character for each cell: `0` or `1`, or a base-62 digit. */
  readonly cells: string;
  /** From the first cell to the last, without gaps. */
  readonly segments: readonly Segment[];
}

/** The diagram of an id for one reading, or `undefined` if the reading has no diagram. */
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

/** The fields in their order, each with all its cells. */
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
