import type { LeaseRecord } from './port.js';
import { layoutOf, splitLayout } from './protocol.js';

/** The node ids of a namespace, counted. For people and instruments. */
export interface NamespaceSummary {
  /** The fingerprint of the layout that the namespace remembers; `undefined` if no generator with a layout has used it. */
  readonly layout: string | undefined;
  /** The first and the last node id that the namespace gives out, if they are not all of the layout. */
  readonly nodes?: readonly [first: number, last: number];
  /** The number of node ids that the namespace gives out; `undefined` without a layout. */
  readonly size: number | undefined;
  /** The node ids whose lease has not expired. */
  readonly held: number;
  /** The node ids whose holder has neither renewed nor released the lease in time. */
  readonly expired: number;
  /** The node ids that anybody has ever held. */
  readonly used: number;
}

/**
 * Counts the node ids of a namespace.
 *
 * @param now the store's time, ms
 */
export function summarise(records: readonly LeaseRecord[], now: number): NamespaceSummary {
  const nodes = records.filter(({ id }) => id >= 0);
  const owned = nodes.filter(({ owner }) => owner !== null);
  const held = owned.filter(({ expiresAt }) => expiresAt > now).length;
  const remembered = layoutOf(records);
  const { layout, nodes: range } = remembered === undefined ? {} : splitLayout(remembered);
  return {
    layout,
    ...(range && { nodes: range }),
    size: range ? range[1] - range[0] + 1 : sizeOf(layout),
    held,
    expired: owned.length - held,
    used: nodes.length,
  };
}

/** The number of node ids of a layout, from its fingerprint: `1388534400000/1 node:9@13 sequence:13@0` has 2^9. */
function sizeOf(layout: string | undefined): number | undefined {
  if (layout === undefined) return undefined;
  const [, bits] = / node:(\d{1,2})@/.exec(layout) ?? [];
  return bits === undefined ? 1 : 2 ** Number(bits);
}
