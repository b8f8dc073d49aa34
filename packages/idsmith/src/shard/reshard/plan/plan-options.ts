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
   * Names of nodes (`host:port` or `ringName`) that are lost for good and will never answer again. Everything that was only there is lost. No process may
   * reach such a node any more.
   */
  readonly gone?: readonly string[];
  /**
   * Names of nodes (`host:port` or `ringName`) that were started again with older data or without any. Values that other nodes have are kept. Values that
   * were only on such a node are lost, and keys that were deleted since may come back. If all old nodes are named, minting is handed over although they
   * have forgotten that it was given to them: no other nodes may have taken it over since.
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

/**
 * Reads names of nodes: their addresses, or their names on the ring.
 *
 * @returns their addresses
 * @throws InvalidOptionError unless the value is a list of names of nodes of the two maps, or left out
 */
export function readNodeNames(
  option: string,
  value: unknown,
  { sources, targets }: ReshardContext,
): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse(option, 'a list of names of nodes', value);
  const nodes = [...sources.values(), ...targets.values()];
  const known = [...new Set(nodes.map(({ address }) => address))];
  return value.map((name) => {
    const node = nodes.find(({ address, node }) => address === name || node.ringName === name);
    if (node !== undefined) return node.address;
    throw new InvalidOptionError(
      `${option}: there is no node ${show(name)} in the two maps (${known.join(', ')})`,
    );
  });
}

/**
 * Notes in the context which nodes are gone.
 *
 * @param context the resharding in the direction of the move
 * @throws InvalidOptionError when keys would be moved to such a node, or no node is left
 */
export function giveUpNodes(context: ReshardContext, gone: readonly string[] | undefined): void {
  for (const address of readNodeNames('gone', gone, context)) {
    if (context.targets.has(address)) throw goneTargetError(context, address);
    context.gone.add(address);
  }
  // Without any new owner, a resharding can still be given up.
  if (context.givingNodes.length === 0 && !context.isReversed)
    throw new InvalidOptionError('gone must leave at least one of the nodes that keys are moved from');
}

/** The error for a node that is gone, and that keys would be moved to. */
export function goneTargetError(
  { sources, isReversed }: ReshardContext,
  address: string,
): InvalidOptionError {
  const isNew = !isReversed && !sources.has(address);
  return new InvalidOptionError(
    `gone: keys are moved to node ${address}, so it cannot be given up. ${
      isNew
        ? `Give the resharding up: abortReshard with gone (--abort --gone ${address}). Keys that were moved there are lost, and all others ` +
          'go back to their old owners'
        : `Start an empty server at its address, and give acceptOlder (--accept-older ${address}) in place of gone`
    }`,
  );
}
