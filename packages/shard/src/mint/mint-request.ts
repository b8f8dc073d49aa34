import { base62Pair, type IdError, onAbort, StoreError } from 'idsmith/internal';
import { writeKeys } from '../keys/codec.js';
import { type VariantSpan, widthOf } from '../keys/variants.js';
import type { MintingNode } from './minting-nodes.js';
import type { KeyRange } from './node-sequence.js';

/** The longest time that a request gathers keys at a node before it asks again, ms. Asking earlier would give a few keys at a time. */
const GATHERING = 100;

/** One call of `genKey` or `genKeys` that waits for its keys. */
export interface MintRequest {
  /** The two digits of the type. */
  readonly suffix: string;
  readonly count: number;
  /** The number of keys that no node has been asked for. */
  wanted: number;
  /** The number of keys that nodes have reserved. */
  reserved: number;
  /** These keys, in the order in which the nodes answered. */
  readonly batches: KeyBatch[];
  /** The lowest millisecond of the keys: that of the last key that the process got before the call. */
  readonly above: number;
  /** The time before which a node is not asked again, because it has no more keys until then. */
  notBefore?: Map<MintingNode, number>;
  failures?: Map<MintingNode, IdError>;
  /** The call has ended. */
  isSettled: boolean;
  resolve: (keys: string[]) => void;
  reject: (error: unknown) => void;
}

/** A part of a request that one node is asked for. */
export interface MintPart {
  readonly request: MintRequest;
  /** The number of keys that the node has not reserved yet. */
  count: number;
}

/** A new request for `count` keys of a type. */
export function mintRequest(
  type: number,
  count: number,
  above: number,
  resolve: MintRequest['resolve'],
  reject: MintRequest['reject'],
): MintRequest {
  return {
    suffix: base62Pair(type) as string,
    count,
    wanted: count,
    reserved: 0,
    batches: [],
    above,
    isSettled: false,
    resolve,
    reject,
  };
}

/** Ends a request when the signal is aborted. */
export function endOnAbort(request: MintRequest, signal: AbortSignal): void {
  const { resolve, reject } = request;
  const unwatch = onAbort(signal, () => rejectAll([request], signal.reason));
  request.resolve = (keys) => {
    unwatch();
    resolve(keys);
  };
  request.reject = (error) => {
    unwatch();
    reject(error);
  };
}

/** Takes parts of requests that a node may be asked for, up to `most` keys. */
export function takeParts(
  requests: readonly MintRequest[],
  node: MintingNode,
  most: number,
  now: number,
  isAllowed: (request: MintRequest) => boolean,
): MintPart[] {
  const parts: MintPart[] = [];
  let left = most;
  for (const request of requests) {
    if (left === 0) break;
    const { wanted, failures, notBefore } = request;
    if (wanted === 0 || failures?.has(node) || (notBefore?.get(node) ?? 0) > now || !isAllowed(request))
      continue;
    const count = Math.min(wanted, left);
    request.wanted -= count;
    left -= count;
    parts.push({ request, count });
  }
  return parts;
}

/** Gives the keys of a range to the requests that the node was asked for, in their order. */
export function distributeKeys(range: KeyRange, parts: readonly MintPart[], node: MintingNode): void {
  const { ms, variant, count, restIn, span } = range;
  const { size } = node.sequence.nodeSet;
  const width = widthOf(span);
  const askAgainAt = performance.now() + Math.min(Math.max(restIn, 1), GATHERING);
  let [time, next, left] = [ms, variant, count];
  for (const part of parts) {
    const { request } = part;
    // A request that was aborted meanwhile needs no keys.
    const share = request.isSettled ? 0 : Math.min(part.count, left);
    if (share > 0) {
      const keys = writeKeys(time, next, size, span, share, request.suffix);
      request.batches.push({ keys, ms: time, variant: next, span });
      request.reserved += share;
      request.failures?.delete(node);
      part.count -= share;
      left -= share;
      const offset = next - span.first + share;
      time += Math.floor(offset / width) * size;
      next = span.first + (offset % width);
    }
    // The rest may be had elsewhere at once. This node has more of it later.
    if (part.count > 0) {
      request.notBefore ??= new Map();
      request.notBefore.set(node, askAgainAt);
    }
  }
}

/** Ends requests with an error. */
export function rejectAll(requests: readonly MintRequest[], error: unknown): void {
  for (const request of requests) {
    request.wanted = 0;
    request.isSettled = true;
    request.reject(error);
  }
}

/** The error of a request that failed on every node. It names all nodes, unless all errors are the same. */
export function allNodesFailed({ failures }: MintRequest): IdError {
  const errors = [...(failures ?? new Map<MintingNode, IdError>()).values()];
  const [first] = errors as [IdError, ...IdError[]];
  if (errors.every(({ message }) => message === first.message)) return first;
  return new StoreError(`no node can mint keys: ${errors.map(({ message }) => message).join('; ')}`, {
    cause: first,
  });
}

/** Consecutive keys of one node. */
export interface KeyBatch {
  readonly keys: readonly string[];
  /** The position of the first key. */
  readonly ms: number;
  readonly variant: number;
  /** The variants that the keys use in each millisecond. */
  readonly span: VariantSpan;
}

/** The keys of one batch in one millisecond. */
interface Segment {
  readonly ms: number;
  readonly variant: number;
  readonly keys: readonly string[];
  readonly from: number;
  readonly to: number;
}

/**
 * Joins batches of several nodes in ascending order. Every millisecond belongs to one node, so whole milliseconds are sorted,
 * and not single keys.
 *
 * @param step the number of nodes: the distance between two milliseconds of one node
 */
export function mergeKeys(batches: readonly KeyBatch[], step: number): string[] {
  const [only] = batches;
  if (batches.length === 1 && only !== undefined) return only.keys as string[];
  const segments = batches.flatMap((batch) => segmentsOf(batch, step));
  segments.sort((a, b) => a.ms - b.ms || a.variant - b.variant);
  const merged = new Array<string>(batches.reduce((sum, { keys }) => sum + keys.length, 0));
  let at = 0;
  for (const { keys, from, to } of segments) for (let i = from; i < to; i++) merged[at++] = keys[i] as string;
  return merged;
}

function segmentsOf({ keys, ms, variant, span }: KeyBatch, step: number): Segment[] {
  const segments: Segment[] = [];
  const width = widthOf(span);
  // The first segment is shorter if the batch begins in the middle of a millisecond.
  let to = Math.min(keys.length, span.last - variant + 1);
  segments.push({ ms, variant, keys, from: 0, to });
  for (let time = ms + step; to < keys.length; time += step) {
    const from = to;
    to = Math.min(keys.length, from + width);
    segments.push({ ms: time, variant: span.first, keys, from, to });
  }
  return segments;
}

/** The millisecond of the last key of a batch. */
export function lastMsOf({ keys, ms, variant, span }: KeyBatch, step: number): number {
  return ms + Math.floor((variant - span.first + keys.length - 1) / widthOf(span)) * step;
}
