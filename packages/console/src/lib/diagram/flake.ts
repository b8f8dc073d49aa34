import { type FlakeField, layouts } from 'idsmith';
import type { Diagram, FieldKind, Segment } from './diagram.js';

const KINDS: Readonly<Record<FlakeField, FieldKind>> = { time: 'time', node: 'machine', sequence: 'counter' };

/** The 64 bits of a flake. Bits above those of the layout are unused. */
export function flakeDiagram(text: string, layoutName: string): Diagram | undefined {
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
