import { type IdError, StoreError } from '../../errors.js';
import type { Lane } from './minting-node.js';

/** Keys that were asked for. */
export interface Request {
  readonly suffix: string;
  keys: string[];
  left: number;
  /** The keys still to come must lie in this millisecond or a later one, so that a batch ascends. */
  above: number;
  /** Until when not to ask for them. */
  sleepUntil: number;
  /** The node that has given the first of them: another one would have to skip to where that one is. */
  lane: Lane | undefined;
  readonly failures: Map<Lane, IdError>;
  resolve(keys: string[]): void;
  reject(error: unknown): void;
}

/** Whether a node may be asked for what is left of a request. */
export function mayAsk({ lane, failures }: Request, asked: Lane): boolean {
  return !failures.has(asked) && (lane === undefined || lane === asked || failures.has(lane));
}

/** The one error if there is one node, otherwise one that names them all. */
export function allFailed({ failures }: Request): IdError {
  const errors = [...failures.values()];
  const [first] = errors as [IdError, ...IdError[]];
  if (errors.every(({ message }) => message === first.message)) return first;
  return new StoreError(`no node can mint keys: ${errors.map(({ message }) => message).join('; ')}`, {
    cause: first,
  });
}
