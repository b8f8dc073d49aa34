import { writeKeys } from '../keys/codec.js';
import type { MintLot } from './mint-request.js';
import type { MintingNode } from './minting-node.js';
import type { KeyRange } from './node-sequence.js';
import { widthOf } from './variants.js';

/** The longest time that a request gathers keys at a node before it asks again, ms. Asking earlier would give a few keys at a time. */
const GATHERING = 100;

/** Gives the keys of a range to the requests that the node was asked for, in their order. */
export function distributeKeys(range: KeyRange, lots: readonly MintLot[], node: MintingNode): void {
  const { ms, variant, count, restIn, span } = range;
  const { size } = node.sequence.nodeSet;
  const width = widthOf(span);
  const askAgainAt = performance.now() + Math.min(Math.max(restIn, 1), GATHERING);
  let [time, next, left] = [ms, variant, count];
  for (const lot of lots) {
    const { request } = lot;
    // A request that was aborted meanwhile needs no keys.
    const share = request.isSettled ? 0 : Math.min(lot.count, left);
    if (share > 0) {
      const keys = writeKeys(time, next, size, span, share, request.suffix);
      request.batches.push({ keys, ms: time, variant: next, span });
      request.reserved += share;
      request.failures?.delete(node);
      lot.count -= share;
      left -= share;
      const offset = next - span.first + share;
      time += Math.floor(offset / width) * size;
      next = span.first + (offset % width);
    }
    // The rest may be had elsewhere at once. This node has more of it later.
    if (lot.count > 0) {
      request.notBefore ??= new Map();
      request.notBefore.set(node, askAgainAt);
    }
  }
}
