import { InvalidOptionError } from 'idsmith';
import { type ShardConfig, ShardMap } from 'idsmith/shard';
import { readJson } from '../config/settings.js';
import { RequestProblem } from '../http/problem.js';
import type { Log } from '../ops/log.js';
import type { Metrics } from '../ops/metrics.js';

/** Mints sharded keys, if the server was given a config of shards. */
export class Keys {
  readonly #map: ShardMap | undefined;
  readonly #metrics: Metrics;

  /**
   * @param file the config, or nothing
   * @throws InvalidOptionError naming the file and what in it is wrong
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
    this.#map.on('node-failed', ({ node, error }) => log.error('shard failed', { node: node.name, error }));
  }

  /** @throws RequestProblem 501 when there are no shards; StoreError when none of them answers */
  async mint(type: string | number | undefined, count: number): Promise<string[]> {
    if (this.#map === undefined)
      throw new RequestProblem(
        501,
        'NOT_CONFIGURED',
        'this server has no shards to mint keys on: start it with --shards shards.json',
      );
    const keys = await this.#map.genKeys(type, count);
    this.#metrics.minted.add(count, 'key', '');
    return keys;
  }

  async close(): Promise<void> {
    await this.#map?.close();
  }
}
