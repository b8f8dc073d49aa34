import type { Diagram, Segment } from './diagram.js';

/** The base-62 digits of a key, and its suffix. The last four digits are the variant and the type. */
export function keyDiagram(text: string): Diagram | undefined {
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
