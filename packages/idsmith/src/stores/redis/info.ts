import { loadRedisDriver } from '../../redis/load-driver.js';
import { beginConnection } from './drivers.js';
import { parseUrl } from './open.js';
import { OwnRedisClient } from './own-client.js';

/** The wait for an answer, ms. */
const TIMEOUT = 5000;

/**
 * The fields of `INFO` of the server of a URL, over a connection of its own. A script asks, because scripts are what every user of
 * a store may run.
 *
 * @throws Error of the driver when the server cannot be reached, or the user may not run `INFO`
 */
export async function redisInfo(url: string): Promise<ReadonlyMap<string, string>> {
  const { target } = parseUrl(url);
  const driver = await loadRedisDriver();
  const client = new OwnRedisClient(() => beginConnection(driver, target), TIMEOUT);
  try {
    const text = String(await client.evaluate('EVAL', "return redis.call('INFO')", [], []));
    return new Map(
      text.split('\r\n').flatMap((line): [string, string][] => {
        const [, name, value] = /^(\w+):(.*)$/.exec(line) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value]];
      }),
    );
  } finally {
    client.end();
  }
}
