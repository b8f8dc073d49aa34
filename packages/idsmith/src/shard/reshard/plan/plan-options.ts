import { InvalidOptionError } from '../../../errors.js';
import { refuse, show } from '../../../options.js';
import type { ReshardContext } from '../context.js';

/** The options of `planReshard`. */
export interface PlanOptions {
  /**
   * Includes keys of other programs, like `session:42`, if they are on the node where the old map would look for them.
   * Default false.
   */
  readonly allKeys?: boolean;
  /** Types of keys that the map minted, by name or number, besides those in `keyTypes`. */
  readonly types?: readonly (string | number)[];
  /** Names of further keys that belong to the map. Default: none. */
  readonly pattern?: RegExp;
  /**
   * Moves keys to nodes that have neither an append-only file nor a replica, although an old node keeps keys over a crash. Default
   * false.
   */
  readonly acceptVolatileTarget?: boolean;
  /**
   * Names of nodes that are lost for good and will never answer again. Everything that was only there is lost. No process may
   * reach such a node any more.
   */
  readonly gone?: readonly string[];
  /**
   * Names of nodes that were started again with older data or without any. Values that other nodes have are kept. Values that
   * were only on such a node are lost, and keys that were deleted since may come back.
   */
  readonly acceptOlder?: readonly string[];
  /** Stops the operation early. */
  readonly signal?: AbortSignal;
}

/** The names of `PlanOptions`. */
export const PLAN_OPTION_NAMES = [
  ...['allKeys', 'types', 'pattern', 'acceptVolatileTarget', 'gone', 'acceptOlder', 'signal'],
];

/** @throws InvalidOptionError unless the value is an AbortSignal or left out */
export function readSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function')
    refuse('signal', 'an AbortSignal', signal);
  return signal;
}

/** @throws InvalidOptionError unless the value is a list of names of nodes of the two maps, or left out */
export function readNodeNames(
  option: string,
  value: unknown,
  { sources, targets }: ReshardContext,
): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse(option, 'a list of names of nodes', value);
  const known = [...new Set([...sources.keys(), ...targets.keys()])];
  for (const name of value)
    if (!known.includes(name))
      throw new InvalidOptionError(
        `${option}: there is no node ${show(name)} in the two maps (${known.join(', ')})`,
      );
  return value as string[];
}

/**
 * Notes in the context which nodes are gone.
 *
 * @param context the resharding in the direction of the move
 * @throws InvalidOptionError when keys would be moved to such a node, or no node is left
 */
export function giveUpNodes(context: ReshardContext, gone: readonly string[] | undefined): void {
  for (const name of readNodeNames('gone', gone, context)) {
    if (context.targets.has(name)) throw goneTargetError(name);
    context.gone.add(name);
  }
  if (context.givingNodes.length === 0)
    throw new InvalidOptionError('gone must leave at least one of the nodes that keys are moved from');
}

/** The error for a node that is gone, and that keys would be moved to. */
export function goneTargetError(name: string): InvalidOptionError {
  return new InvalidOptionError(
    `gone: keys are moved to node ${name}, so it cannot be given up. Start an empty server at its address, and give acceptOlder ` +
      `(--accept-older ${name}) in place of gone`,
  );
}
