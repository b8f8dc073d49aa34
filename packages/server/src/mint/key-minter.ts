import { InvalidOptionError } from 'idsmith';
import { type ShardConfig, ShardMap } from 'idsmith/shard';
import { readJson } from '../config/json-file.js';
import { RequestProblem } from '../http/problem.js';
import type { Log } from '../ops/log.js';
import type { Metrics } from '../ops/metrics.js';

/** Mints sharded keys, if the server has a config of shards. */
export class KeyMinter {
  readonly #map: ShardMap | undefined;
  readonly #metrics: Metrics;

  /**
   * @param file the config; an empty text for none
   * @throws InvalidOptionError naming the file and the mistake in it
   */
  constructor(file: string, metrics: Metrics, log: Log) {
    this.#metrics = metrics;
    if (file === '') return;
    const config = readJson(file) as ShardConfig;
    try {
      this.#map = new ShardMap(config);
    } catch (error) {
      throw new InvalidOptionError(`${file}: ${(error as Error).message}`, { cause: error });
    }
    this.#map.on('node-failed', ({ node, error }) =>
      log.error('shard failed', { node: node.name, address: node.address, error }),
    );
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
