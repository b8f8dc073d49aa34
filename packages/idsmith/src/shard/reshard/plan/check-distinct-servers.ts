import { InvalidOptionError } from '../../../errors.js';
import type { Parties } from '../context.js';
import { STATE } from '../reserved-keys.js';

const PROBE = `
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return { redis.call('HGET', KEYS[1], ARGV[1]) }`;

const PROBING = 'telling nodes apart';

/**
 * Sees to it that no two names are of the same server, as `localhost:6379` and `127.0.0.1:6379` may be: a key that is
 * moved from the one to the other would be deleted.
 *
 * @throws InvalidOptionError naming both
 */
export async function requireDistinct({ all }: Parties): Promise<void> {
  const field = `probe:${crypto.randomUUID()}`;
  try {
    for (const wire of all) {
      const [name] = await wire.run(PROBING, PROBE, [STATE], [field, wire.name]);
      if (String(name) !== wire.name)
        throw new InvalidOptionError(
          `shards: ${wire.name} and ${String(name)} are the same server: give it the same host and port everywhere`,
        );
    }
  } finally {
    await Promise.allSettled(all.map((wire) => wire.command(PROBING, 'HDEL', STATE, field)));
  }
}
