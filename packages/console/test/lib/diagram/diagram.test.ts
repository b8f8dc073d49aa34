import { LocalityGenerator, layouts } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { inspect } from '../../../../idsmith/src/inspect/inspect.ts';
import type { Reading } from '../../../src/api/types.ts';
import { type Diagram, diagramOf, fieldsOf } from '../../../src/lib/diagram/diagram.ts';

const NOW = Date.UTC(2027, 0, 1);

/** The field as a number, read from the cells of the diagram alone. */
function numberIn(diagram: Diagram, field: string): number {
  const found = fieldsOf(diagram).find((each) => each.field === field);
  return Number(BigInt(`0b${found?.text}`));
}

function draw(id: string, reading: Reading): Diagram {
  const diagram = diagramOf(id, reading);
  expect(diagram?.segments.reduce((sum, { width }) => sum + width, 0)).toBe(diagram?.cells.length);
  return diagram as Diagram;
}

describe('the diagram of a locality UUID', () => {
  it('has every field where the reading finds it', () => {
    const id = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
    const [reading] = inspect(id, { now: NOW }) as [Reading];
    const diagram = draw(id, reading);
    expect(diagram.cells).toHaveLength(128);
    expect(numberIn(diagram, 'counter')).toBe(reading.fields.sequentialCounter);
    expect(numberIn(diagram, 'process id')).toBe(reading.fields.processId);
    expect(numberIn(diagram, 'version')).toBe(0xb);
    expect(numberIn(diagram, 'MAC fragment').toString(16)).toBe('d537a50');
    expect(numberIn(diagram, 'time')).toBe(reading.fields.timestamp);
  });

  it('has the MAC fragment in two pieces when it is a standard version 8', () => {
    const generator = new LocalityGenerator({
      format: 'rfc9562',
      node: { processId: 4711, mac: Uint8Array.of(0, 0, 0xd, 0x53, 0x3a, 0x50) },
      clock: { now: () => NOW - 1000 },
    });
    const id = generator.next();
    const [reading] = inspect(id, { now: NOW }) as [Reading];
    const diagram = draw(id, reading);
    expect(numberIn(diagram, 'process id')).toBe(4711);
    expect(numberIn(diagram, 'version')).toBe(8);
    expect(numberIn(diagram, 'variant')).toBe(0b10);
    expect(numberIn(diagram, 'MAC fragment')).toBe((0xd53 << 14) | 0x3a50);
    expect(numberIn(diagram, 'time')).toBe(NOW - 1000);
  });
});

describe('the diagram of a flake', () => {
  it.each(Object.entries(layouts))('has the fields of %s where the layout puts them', (name, layout) => {
    const fields = {
      timestamp: layout.epoch + 40_000_000_000,
      node: layout.max('node') - 1,
      sequence: layout.max('sequence') - 2,
    };
    const id = String(layout.encode(fields));
    const reading = inspect(id, { now: NOW + 1e12 }).find((each) => each.fields.layout === name) as Reading;
    const diagram = draw(id, reading);
    expect(diagram.cells).toHaveLength(64);
    expect(numberIn(diagram, 'node')).toBe(fields.node);
    expect(numberIn(diagram, 'sequence')).toBe(fields.sequence);
    expect(layout.timeOf(numberIn(diagram, 'time'))).toBe(fields.timestamp);
  });

  it('reads a negative number as the same 64 bits', () => {
    const diagram = draw('-1', { family: 'flake', fields: { layout: 'discord' } });
    expect(diagram.cells).toBe('1'.repeat(64));
  });
});

describe('the diagram of a key', () => {
  it('has a cell for each digit, and the suffix as it is', () => {
    const diagram = draw('1jyVFw3401-tags', { family: 'key', fields: {} });
    expect(fieldsOf(diagram).map(({ field, text }) => [field, text])).toEqual([
      ['time', '1jyVFw'],
      ['variant', '34'],
      ['type', '01'],
      ['suffix', '-tags'],
    ]);
  });
});

describe('the diagram of any UUID', () => {
  it.each([
    ['1', 'time', 60],
    ['6', 'time', 60],
    ['4', 'random', 122],
    ['7', 'random', 74],
    ['5', 'data', 122],
  ])('of version %s has %s bits for %s', (version, field, bits) => {
    const id = `019a8c1e-7b2a-${version}d3c-9f4e-5a6b7c8d9e0f`;
    const diagram = draw(id, { family: 'uuid', fields: { version } });
    expect(fieldsOf(diagram).find((each) => each.field === field)?.width).toBe(bits);
  });
});

it('has no diagram for a text that is not such an id', () => {
  expect(diagramOf('hello', { family: 'uuid', fields: { version: '4' } })).toBeUndefined();
  expect(diagramOf('12x', { family: 'flake', fields: { layout: 'jflake' } })).toBeUndefined();
  expect(diagramOf('12', { family: 'flake', fields: { layout: 'toString' } })).toBeUndefined();
});
