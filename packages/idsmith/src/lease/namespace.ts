import { InvalidOptionError } from '../errors.js';
import { refuse, show } from '../options.js';
import type { LeaseRecord } from './port.js';
import { layoutOf, splitLayout } from './protocol.js';

/**
 * `namespace` if every store can keep it.
 *
 * @param option its name in the message
 * @throws InvalidOptionError unless it is well-formed text of 1 to 255 characters without NUL
 */
export function requireNamespace(namespace: unknown, option = 'namespace'): string {
  // Half of a surrogate pair has no UTF-8 form, so two such namespaces would become one in the store.
  const wellFormed = typeof namespace === 'string' && !/\p{Surrogate}/u.test(namespace);
  if (wellFormed && namespace.length >= 1 && namespace.length <= 255 && !namespace.includes('\0'))
    return namespace;
  refuse(option, 'text of 1 to 255 characters without NUL', namespace);
}

/** The namespace of the store's own record. */
export const STORE_NAMESPACE = 'idsmith/store';

/** The beginning of the names of all namespaces and sequences that `idsmith verify` makes. */
export const TRIAL = 'idsmith-verify/';

/**
 * `namespace` if it is one of `idsmith verify`. Only such a namespace may be removed: without its fences, ids of any other one
 * could come twice.
 *
 * @throws InvalidOptionError unless its name begins with {@link TRIAL}
 */
export function requireTrial(namespace: string): string {
  if (requireNamespace(namespace).startsWith(TRIAL)) return namespace;
  throw new InvalidOptionError(
    `namespace ${show(namespace)} is not one of idsmith verify, so its records are kept: without them ids could come twice`,
  );
}

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
