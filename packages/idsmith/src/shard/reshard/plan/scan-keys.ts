import type { NodeConnection } from '../node-connection.js';
import { type RedisKey, redisKeyOf } from '../redis-key.js';

/** The approximate number of keys that one SCAN looks at. */
const SCAN_COUNT = 1000;

/** Reads all keys of a node in small lists. A key that exists during the whole scan comes at least once. */
export async function* scanKeys(node: NodeConnection): AsyncGenerator<RedisKey[]> {
  let cursor = '0';
  do {
    const reply = await node.command('scanning', 'SCAN', cursor, 'COUNT', SCAN_COUNT);
    const [next, keys] = reply as [unknown, Uint8Array[]];
    cursor = String(next);
    yield keys.map(redisKeyOf);
  } while (cursor !== '0');
}
