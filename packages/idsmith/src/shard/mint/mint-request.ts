import { base62Pair } from '../../encoding/base62.js';
import { type IdError, StoreError } from '../../errors.js';
import { onAbort } from '../../support/abort.js';
import type { KeyBatch } from './merge-keys.js';
import type { MintingNode } from './minting-node.js';

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
export interface MintLot {
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
    ...{ count, wanted: count, reserved: 0, batches: [], above },
    ...{ isSettled: false, resolve, reject },
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
export function takeLots(
  requests: readonly MintRequest[],
  node: MintingNode,
  most: number,
  now: number,
  isAllowed: (request: MintRequest) => boolean,
): MintLot[] {
  const lots: MintLot[] = [];
  let left = most;
  for (const request of requests) {
    if (left === 0) break;
    const { wanted, failures, notBefore } = request;
    if (wanted === 0 || failures?.has(node) || (notBefore?.get(node) ?? 0) > now || !isAllowed(request))
      continue;
    const count = Math.min(wanted, left);
    request.wanted -= count;
    left -= count;
    lots.push({ request, count });
  }
  return lots;
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
