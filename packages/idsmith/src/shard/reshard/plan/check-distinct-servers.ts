import { InvalidOptionError } from '../../../errors.js';
import { PROBE_SERVER } from '../../../redis/scripts.js';
import type { ReshardContext } from '../context.js';
import { STATE_KEY } from '../reserved-keys.js';

const PROBING = 'telling nodes apart';

/**
 * Checks that no two nodes are the same server under two names, like `localhost:6379` and `127.0.0.1:6379`. Moving a key from
 * one name to the other would delete the key.
 *
 * @throws InvalidOptionError naming both nodes
 */
export async function requireDistinctServers({ nodes }: ReshardContext): Promise<void> {
  const field = `probe:${crypto.randomUUID()}`;
  try {
    for (const node of nodes) {
      const [name] = await node.run(PROBING, PROBE_SERVER, [STATE_KEY], [field, node.address]);
      if (String(name) !== node.address)
        throw new InvalidOptionError(
          `shards: ${node.address} and ${String(name)} are the same server: use the same host and port in both configs`,
        );
    }
  } finally {
    await Promise.allSettled(nodes.map((node) => node.command(PROBING, 'HDEL', STATE_KEY, field)));
  }
}
