import type { MintBounds } from './mint-bounds.js';
import type { MintLot } from './mint-request.js';
import type { MintingNode } from './minting-node.js';
import type { NodeSet } from './node-set.js';

/**
 * The node of the next millisecond that can be had in a large node set, instead of `node`.
 *
 * @param above the lowest millisecond that is wanted
 * @returns `undefined` if all nodes have to wait for their clocks; each node then has the end of its wait
 */
export function nodeInTime(
  nodes: readonly MintingNode[],
  node: MintingNode,
  lots: readonly MintLot[],
  above: number,
  bounds: MintBounds | undefined,
  { lead, size, skew }: NodeSet,
): MintingNode | undefined {
  const now = performance.now();
  // Questions to many nodes take long. The latest reading is behind by the least.
  const clock = nodes.reduce((latest, each) => Math.max(latest, each.earliestClockAt(now) ?? 0), 0);
  if (clock === 0) return node;
  const aim = aimAt(clock, above, bounds, lead);
  const limit = bounds === undefined || bounds.until < clock ? clock + lead : bounds.until;
  if (aim > limit && aim - limit <= lead + skew) {
    for (const each of nodes) {
      each.waitUntil = Math.max(each.waitUntil, now + aim - limit);
      each.expireProof();
    }
    return undefined;
  }
  for (let ms = aim; ms <= limit && ms < aim + size; ms++) {
    const each = nodes[ms % size] as MintingNode;
    const isFree = each === node || (!each.isBusy && each.waitUntil <= now && !each.hasFailed);
    if (isFree && !lots.some(({ request }) => request.failures?.has(each))) return each;
  }
  return node;
}

/**
 * The millisecond to mint next in a large node set. Most of its nodes have no millisecond that is near, so the node is chosen
 * by this millisecond, and the millisecond must not pass while the node is asked.
 *
 * @param clock the clock of the nodes; it may be estimated too early
 * @param above the lowest millisecond that is wanted
 * @returns a millisecond later than `bounds.until` if no node has keys yet
 */
function aimAt(clock: number, above: number, bounds: MintBounds | undefined, lead: number): number {
  const { after, until } = bounds ?? { after: 0, until: Number.MAX_SAFE_INTEGER };
  // Beyond old bounds, nodes mint up to `lead` ahead of their clocks, with the variants of nodes without proofs.
  const room = until < clock ? lead : until - clock;
  const soon = Math.floor(clock + Math.min(lead / 4, room / 2));
  return Math.max(soon, above, after + 1);
}
