import { StoreError } from '../../../errors.js';
import { pause, systemTimer } from '../../../support/timer.js';
import type { NodeConnection } from '../node-connection.js';
import { type RedisKey, redisKeyOf } from '../redis-key.js';

/** The approximate number of keys that one SCAN looks at. */
const SCAN_COUNT = 1000;

/** The time for which a node that changes all the time is scanned again and again, ms. */
const PATIENCE = 120_000;

/** The pause before a node that has changed is looked at again, ms. */
const WAIT = 500;

/**
 * Reads all keys of a node in small lists. A key that exists during the whole scan comes at least once. So a node is scanned again
 * if a server was started again meanwhile, because the cursor of a scan means nothing to it then, and a cluster if a slot went
 * from one server to another.
 *
 * @throws StoreError when a node is started again all the time, or does not stop moving slots
 */
export async function* scanKeys(node: NodeConnection): AsyncGenerator<RedisKey[]> {
  for (const started = performance.now(); ; ) {
    const before = await node.layout();
    if (before !== undefined) {
      for (const server of await node.servers())
        for await (const names of scanServer(server)) yield names.map((name) => node.keyOf(name));
      if ((await node.layout()) === before) return;
    }
    if (performance.now() - started > PATIENCE)
      throw new StoreError(
        `node ${node.address}: scanning failed: for ${PATIENCE / 1000} s it was started again, or moved slots between its ` +
          'masters, during every scan. Run it again when that has ended',
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
