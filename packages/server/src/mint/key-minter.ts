import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { loadConfig } from 'idsmith/internal/cli';
import { RequestProblem } from '../http/problem.js';
import type { Log } from '../ops/log.js';
import type { Metrics } from '../ops/metrics.js';

/** Mints sharded keys, if the server has a config of shards. */
export class KeyMinter {
  readonly #map: ShardMap | undefined;
  readonly #metrics: Metrics;

  /** @param map the shards; `undefined` for none */
  constructor(map: ShardMap | undefined, metrics: Metrics, log: Log) {
    this.#map = map;
    this.#metrics = metrics;
    map?.on('node-failed', ({ node, error }) =>
      log.error('shard failed', { node: node.name, address: node.address, error }),
    );
  }

  /**
   * @param file the config, `.json`, `.js`, `.cjs` or `.mjs`; an empty text for none
   * @throws InvalidOptionError naming the file and the mistake in it
   */
  static async open(file: string, metrics: Metrics, log: Log): Promise<KeyMinter> {
    return new KeyMinter(file === '' ? undefined : await openMap(file), metrics, log);
  }

  /** @throws RequestProblem 501 if there is no config of shards; StoreError if no shard answers */
  async mint(type: string | number | undefined, count: number): Promise<string[]> {
    if (this.#map === undefined)
      throw new RequestProblem(
        501,
        'NOT_CONFIGURED',
        'this server has no shards for keys: start it with --shards shards.json',
      );
    const keys = await this.#map.genKeys(type, count);
    this.#metrics.minted.add(count, 'key', '');
    return keys;
  }

  async close(): Promise<void> {
    await this.#map?.close();
  }
}

async function openMap(file: string): Promise<ShardMap> {
  const config = (await loadConfig('shards', file)) as ShardConfig;
  try {
    return new ShardMap(config);
  } catch (error) {
    throw new InvalidOptionError(`${file}: ${(error as Error).message}`, { cause: error });
  }
}
