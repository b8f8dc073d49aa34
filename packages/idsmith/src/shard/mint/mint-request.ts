import { base62Pair } from '../../encoding/base62.js';
import { type IdError, StoreError } from '../../errors.js';
import type { MintingNode } from './minting-node.js';

/** One call of `genKey` or `genKeys` that waits for its keys. */
export interface MintRequest {
  /** The two digits of the type. */
  readonly suffix: string;
  keys: string[];
  left: number;
  /** The lowest millisecond of the keys that are left, so that the keys of one call ascend. */
  above: number;
  /** The time before which no node is asked for the keys that are left. */
  sleepUntil: number;
  /** The node that gave the first keys. Another node would have to skip to the same millisecond. */
  node: MintingNode | undefined;
  readonly failures: Map<MintingNode, IdError>;
  resolve: (keys: string[]) => void;
  reject: (error: unknown) => void;
}

/** A new request for `count` keys of a type. */
export function mintRequest(
  type: number,
  count: number,
  resolve: MintRequest['resolve'],
  reject: MintRequest['reject'],
): MintRequest {
  return {
    suffix: base62Pair(type) as string,
    keys: [],
    left: count,
    above: 0,
    sleepUntil: 0,
    node: undefined,
    failures: new Map(),
    resolve,
    reject,
  };
}

/** Tells whether a node may be asked for the rest of a request. */
export function mayAsk({ node, failures }: MintRequest, asked: MintingNode): boolean {
  return !failures.has(asked) && (node === undefined || node === asked || failures.has(node));
}

/** The error of a request that failed on every node. It names all nodes, unless all errors are the same. */
export function allNodesFailed({ failures }: MintRequest): IdError {
  const errors = [...failures.values()];
  const [first] = errors as [IdError, ...IdError[]];
  if (errors.every(({ message }) => message === first.message)) return first;
  return new StoreError(`no node can mint keys: ${errors.map(({ message }) => message).join('; ')}`, {
    cause: first,
  });
}
