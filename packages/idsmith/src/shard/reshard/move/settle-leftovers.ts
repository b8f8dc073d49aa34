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
  if (context.gone.has(source.address) || context.gone.has(target.address)) {
    await node.unlist(list, await node.readEntries(list, keys));
    return;
  }
  const isOfOtherDirection = (list === INCOMING_KEY) === (node.address === source.address);
  const isUnlisted = direction === 'back' && isOfOtherDirection;
  const entries = isUnlisted ? await node.readEntries(list, keys) : new Map<RedisKey, Uint8Array>();
  const { again, lost } = await mover.move(change, keys);
  // Entries of the other direction were written before the resharding was given up. Nobody uses them any more.
  const unsettled = new Set([...again, ...lost].map(redisKeyText));
  for (const key of entries.keys()) if (unsettled.has(redisKeyText(key))) entries.delete(key);
  await node.unlist(list, entries);
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
    const name = `${change.source.address} ${change.target.address}`;
    const group = groups.get(name) ?? { change, keys: [] };
    groups.set(name, group);
    group.keys.push(key);
  }
  return groups.values();
}
