import { StoreError } from '../../../errors.js';
import { pause, systemTimer } from '../../../support/timer.js';
import type { NodeConnection } from '../node-connection.js';
import { type RedisKey, redisKeyOf } from '../redis-key.js';

/** The approximate number of keys that one SCAN looks at. */
const SCAN_COUNT = 1000;

/** The number of scans of a cluster that moves its slots all the time, after which nobody tries it any more. */
const MAX_SCANS = 20;

/** The pause before a cluster that moves a slot is looked at again, ms. */
const WAIT = 500;

/**
 * Reads all keys of a node in small lists. A key that exists during the whole scan comes at least once. So a cluster is scanned
 * again if a slot went from one server to another meanwhile.
 *
 * @throws StoreError when a cluster does not stop moving slots
 */
export async function* scanKeys(node: NodeConnection): AsyncGenerator<RedisKey[]> {
  for (let scan = 1; ; scan++) {
    const before = await node.layout();
    if (before !== undefined) {
      for (const server of await node.servers())
        for await (const names of scanServer(server)) yield names.map((name) => node.keyOf(name));
      if ((await node.layout()) === before) return;
    }
    if (scan === MAX_SCANS)
      throw new StoreError(
        `node ${node.name}: scanning failed: it moves slots between its masters. Run it again when the slots stay`,
      );
    await pause(systemTimer, WAIT, false);
  }
}

async function* scanServer(node: NodeConnection): AsyncGenerator<RedisKey[]> {
  let cursor = '0';
  do {
    const reply = await node.command('scanning', 'SCAN', cursor, 'COUNT', SCAN_COUNT);
    const [next, keys] = reply as [unknown, Uint8Array[]];
    cursor = String(next);
    yield keys.map(redisKeyOf);
  } while (cursor !== '0');
}
