import { type Layout, layouts } from 'idsmith';
import type { Reading } from '../../api/types.js';
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

const KINDS: Readonly<Record<keyof Layout['fields'], FieldKind>> = {
  time: 'time',
  node: 'machine',
  sequence: 'counter',
};

/** The 64 bits of a flake. Bits above those of the layout are unused. */
function flakeDiagram(text: string, layoutName: string): Diagram | undefined {
  const layout = Object.hasOwn(layouts, layoutName) ? layouts[layoutName as keyof typeof layouts] : undefined;
  if (layout === undefined || !/^-?\d{1,20}$/.test(text)) return undefined;
  const { order, fields, bits } = layout;
  const segments: Segment[] = order.map((field) => ({
    field,
    kind: KINDS[field],
    width: fields[field].bits,
  }));
  if (bits < 64) segments.unshift({ field: 'unused', kind: 'unused', width: 64 - bits });
  return {
    unit: 'bit',
    cells: BigInt.asUintN(64, BigInt(text)).toString(2).padStart(64, '0'),
    segments: segments.filter(({ width }) => width > 0),
  };
}

/** The base-62 digits of a key, and its suffix. The last four digits are the variant and the type. */
function keyDiagram(text: string): Diagram | undefined {
  const [stem = '', ...rest] = text.split('-');
  if (!/^[0-9A-Za-z]{5,}$/.test(stem)) return undefined;
  const suffix = rest.join('-');
  const segments: Segment[] = [
    { field: 'time', kind: 'time', width: stem.length - 4 },
    { field: 'variant', kind: 'counter', width: 2 },
    { field: 'type', kind: 'type', width: 2 },
  ];
  if (suffix !== '') segments.push({ field: 'suffix', kind: 'unused', width: suffix.length + 1 });
  return { unit: 'base-62 digit', cells: suffix === '' ? stem : `${stem}-${suffix}`, segments };
}
