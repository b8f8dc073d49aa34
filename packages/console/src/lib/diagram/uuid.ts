import type { Reading } from '../../api/types.js';
import type { Diagram, FieldKind, Segment } from './diagram.js';

const part = (field: string, kind: FieldKind, width: number): Segment => ({ field, kind, width });

const version = part('version', 'version', 4);
const variant = part('variant', 'version', 2);

/** A locality UUID, version b: the MAC fragment is in one piece. */
const LOCALITY = [
  part('counter', 'counter', 32),
  part('process id', 'process', 16),
  version,
  part('MAC fragment', 'machine', 28),
  part('time', 'time', 48),
];

/** A locality UUID as a standard version 8: the variant takes the place of two MAC bits. */
const RFC9562 = [
  part('counter', 'counter', 32),
  part('process id', 'process', 16),
  version,
  part('MAC fragment', 'machine', 12),
  variant,
  part('MAC fragment', 'machine', 14),
  part('time', 'time', 48),
];

/** The fields of the versions of RFC 9562. */
const VERSIONS: Readonly<Record<string, readonly Segment[]>> = {
  1: [
    part('time', 'time', 48),
    version,
    part('time', 'time', 12),
    variant,
    part('clock sequence', 'counter', 14),
    part('node', 'machine', 48),
  ],
  4: [
    part('random', 'random', 48),
    version,
    part('random', 'random', 12),
    variant,
    part('random', 'random', 62),
  ],
  7: [part('time', 'time', 48), version, part('random', 'random', 12), variant, part('random', 'random', 62)],
};

const OTHER = [
  part('data', 'random', 48),
  version,
  part('data', 'random', 12),
  variant,
  part('data', 'random', 62),
];

/** The 128 bits of a UUID. */
export function uuidDiagram(text: string, { family, fields }: Reading): Diagram | undefined {
  const hex = text.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(hex)) return undefined;
  const cells = BigInt(`0x${hex}`).toString(2).padStart(128, '0');
  const number = String(fields.version);
  if (family === 'locality')
    return { unit: 'bit', cells, segments: fields.format === 'rfc9562' ? RFC9562 : LOCALITY };
  // Version 6 has the fields of version 1, with the time in another order.
  const segments = VERSIONS[number === '6' ? '1' : number] ?? OTHER;
  return { unit: 'bit', cells, segments };
}
