import { stemOf } from '../../keys/codec.js';
import type { OwnerChange, ReshardContext } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import { type RedisKey, redisKeyText } from '../redis-key.js';
import { INCOMING_KEY, OUTGOING_KEY } from '../reserved-keys.js';
import type { Direction, KeyMover } from './key-mover.js';

/** The number of leftovers that are settled at a time. */
const BATCH = 100;

/**
 * Finishes the moves that killed movers left unfinished: all keys with an entry in a list of a node. When keys go back, entries
 * of moves to new owners are removed after their keys are back.
 *
 * @param context the resharding in the direction of the mover
 * @returns the number of entries
 */
export async function settleLeftovers(
  context: ReshardContext,
  mover: KeyMover,
  direction: Direction = 'out',
): Promise<number> {
  let found = 0;
  for (const list of [INCOMING_KEY, OUTGOING_KEY])
    for (const node of context.nodes) {
      const keys = await node.listedKeys(list);
      found += keys.length;
      for (const { change, keys: some } of byOwnerChange(keys, context))
        for (let at = 0; at < some.length; at += BATCH)
          await settle(some.slice(at, at + BATCH), { context, mover, direction, change, node, list });
    }
  return found;
}

interface Leftovers {
  readonly context: ReshardContext;
  readonly mover: KeyMover;
  readonly direction: Direction;
  readonly change: OwnerChange;
  /** The node that has the entries, and its list. */
  readonly node: NodeConnection;
  readonly list: string;
}

async function settle(keys: readonly RedisKey[], leftovers: Leftovers): Promise<void> {
  const { context, mover, direction, change, node, list } = leftovers;
  const { source, target } = change;
  // Nothing comes from a node that is gone, and nothing can be brought there. The key stays where it is.
  if (context.gone.has(source.name) || context.gone.has(target.name)) {
    await node.unlist(list, keys);
    return;
  }
  const { again, lost } = await mover.move(change, keys);
  const isOfOtherDirection = (list === INCOMING_KEY) === (node.name === source.name);
  if (direction === 'out' || !isOfOtherDirection) return;
  // The entry was written before the resharding was given up. Nobody uses it any more.
  const unsettled = new Set([...again, ...lost].map(redisKeyText));
  const settled = keys.filter((key) => !unsettled.has(redisKeyText(key)));
  await node.unlist(list, settled);
}

function byOwnerChange(
  keys: readonly RedisKey[],
  context: ReshardContext,
): Iterable<{ readonly change: OwnerChange; readonly keys: RedisKey[] }> {
  const groups = new Map<string, { change: OwnerChange; keys: RedisKey[] }>();
  for (const key of keys) {
    // A key on a list has been moved by somebody, so it belongs to the map, whatever its name is.
    const change = context.ownerChangeOf(stemOf(redisKeyText(key)));
    if (change === undefined) continue;
    const name = `${change.source.name} ${change.target.name}`;
    const group = groups.get(name) ?? { change, keys: [] };
    groups.set(name, group);
    group.keys.push(key);
  }
  return groups.values();
}
