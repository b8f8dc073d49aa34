import { stemOf } from '../../keys/codec.js';
import type { OwnerChange, ReshardContext } from '../context.js';
import { type RedisKey, redisKeyOf, redisKeyText } from '../redis-key.js';
import { INCOMING_KEY, OUTGOING_KEY } from '../reserved-keys.js';
import type { KeyMover } from './key-mover.js';

/** The number of leftovers that are settled at a time. */
const BATCH = 100;

/**
 * Finishes the moves that killed movers left unfinished: all keys with an entry in a list of a node.
 *
 * @returns the number of entries
 */
export async function settleLeftovers(context: ReshardContext, mover: KeyMover): Promise<number> {
  let found = 0;
  for (const list of [INCOMING_KEY, OUTGOING_KEY])
    for (const node of context.nodes) {
      const reply = await node.command('reading leftovers', 'HKEYS', list);
      const keys = (reply as Uint8Array[]).map(redisKeyOf);
      found += keys.length;
      for (const { change, keys: some } of byOwnerChange(keys, context))
        for (let at = 0; at < some.length; at += BATCH) await mover.move(change, some.slice(at, at + BATCH));
    }
  return found;
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
