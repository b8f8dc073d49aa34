import { StoreError } from '../../../errors.js';
import { show } from '../../../options.js';
import type { ReshardContext } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import { type RedisKey, redisKeyText } from '../redis-key.js';
import { INCOMING_KEY } from '../reserved-keys.js';
import type { KeyPlacement } from './key-placement.js';
import { scanKeys } from './scan-keys.js';

/**
 * Checks that the new owners hold no values of keys that will move to them. Such values may be left over from an earlier time
 * in the map, and would be taken for newer ones. So a value that old and new owner have later on is the work of the move.
 *
 * @param older addresses of old owners whose values are known to be older than those of the new owners
 * @throws StoreError naming the node and one of the keys
 */
export async function requireTargetsEmpty(
  context: ReshardContext,
  placement: KeyPlacement,
  older: ReadonlySet<string>,
): Promise<void> {
  await Promise.all([...context.targets.values()].map((node) => checkNode(node, context, placement, older)));
}

async function checkNode(
  node: NodeConnection,
  context: ReshardContext,
  placement: KeyPlacement,
  older: ReadonlySet<string>,
): Promise<void> {
  for await (const keys of scanKeys(node)) {
    const bySource = new Map<NodeConnection, RedisKey[]>();
    for (const key of keys) {
      const change = context.ownerChangeOf(placement.stemOf(key) ?? '');
      if (change?.target !== node || placement.stemOf(key) === undefined) continue;
      if (older.has(change.source.address)) continue;
      bySource.set(change.source, [...(bySource.get(change.source) ?? []), key]);
    }
    for (const [source, present] of bySource)
      for (const key of present)
        if ((await exists(source, key)) && !(await isIncoming(node, key)))
          throw new StoreError(
            `node ${node.address} already holds the key ${show(redisKeyText(key))}, which node ${source.address} holds, too. ` +
              'Nothing was changed. Find out which of the two values is the right one, give the other one another name (RENAME), ' +
              'and try again',
          );
  }
}

const CHECKING = 'looking for old keys';

async function exists(node: NodeConnection, key: RedisKey): Promise<boolean> {
  return Number(await node.command(CHECKING, 'EXISTS', key)) === 1;
}

/** Tells whether a mover that was interrupted has brought the key. */
async function isIncoming(node: NodeConnection, key: RedisKey): Promise<boolean> {
  return (await node.entriesOf(INCOMING_KEY, [key]))[0] !== null;
}
