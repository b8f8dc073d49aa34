import { Redis } from 'ioredis';
import type { RedisNode } from './redis-nodes.js';

/** Moves slots with their keys from one master of a Redis Cluster to another, as `redis-cli --cluster reshard` does. */
export async function moveSlots(
  source: Pick<RedisNode, 'port'>,
  target: Pick<RedisNode, 'port'>,
  slots: readonly number[],
  others: readonly Pick<RedisNode, 'port'>[],
): Promise<number> {
  const [from, to, ...rest] = [source, target, ...others].map(({ port }) => new Redis(port)) as [
    Redis,
    Redis,
    ...Redis[],
  ];
  let moved = 0;
  try {
    const [fromId, toId] = await Promise.all([from.call('CLUSTER', 'MYID'), to.call('CLUSTER', 'MYID')]);
    for (const slot of slots) {
      await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
      await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
      for (;;) {
        const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)) as string[];
        if (keys.length === 0) break;
        await from.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', ...keys);
        moved += keys.length;
      }
      for (const client of [to, from, ...rest])
        await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
    }
  } finally {
    for (const client of [from, to, ...rest]) client.disconnect();
  }
  return moved;
}
