import { writeKeys } from '../keys/codec.js';
import type { MintRequest } from './mint-request.js';
import type { MintingNode } from './minting-node.js';
import type { KeyRange } from './node-sequence.js';
import { widthOf } from './variants.js';

/** Gives the keys of a range to requests, in the order of the requests. A request that gets too few keys sleeps. */
export function distributeKeys(range: KeyRange, batch: readonly MintRequest[], node: MintingNode): void {
  const { ms, variant, count, restIn, span } = range;
  const { size } = node.sequence.nodeSet;
  const width = widthOf(span);
  let [time, next, left] = [ms, variant, count];
  for (const request of batch) {
    // A request that was aborted meanwhile needs no keys.
    if (request.left === 0) continue;
    const share = Math.min(request.left, left);
    if (share === 0) break;
    const keys = writeKeys(time, next, size, span, share, request.suffix);
    request.keys = request.keys.length === 0 ? keys : request.keys.concat(keys);
    request.left -= share;
    left -= share;
    const offset = next - span.first + share;
    time += Math.floor(offset / width) * size;
    next = span.first + (offset % width);
    if (request.left === 0) {
      request.resolve(request.keys);
      continue;
    }
    // Sleeps until the node has the whole rest. Asking earlier would give a few keys at a time.
    request.sleepUntil = performance.now() + restIn;
    request.above = time + 1;
    request.node = node;
  }
}
