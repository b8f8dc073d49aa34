import { basename } from 'node:path';
import { type NodeStatus, nodeStatus, type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { loadConfig } from 'idsmith/internal/cli';
import { RETRY_SOON, RequestProblem } from '../http/problem.js';
import { inTime, PATIENCE } from '../ops/in-time.js';
import type { Log } from '../ops/log.js';
import type { Metrics, ShardGauge } from '../ops/metrics.js';

/** The time for which the state of the shards counts, ms. Anybody with a token may ask. */
const STATUS_LIFETIME = 1000;

/** Mints sharded keys, if the server has a config of shards. */
export class KeyMinter {
  /** The name of the config; `null` if there is none. */
  readonly file: string | null;
  /** True if the shards are one Redis Cluster. */
  readonly isCluster: boolean;
  readonly #map: ShardMap | undefined;
  readonly #metrics: Metrics;
  #last: readonly NodeStatus[] = [];
  #asked: { until: number; readonly states: Promise<NodeStatus[]> } | undefined;

  /** @param config the shards; `undefined` for none */
  private constructor(file: string, config: ShardConfig | undefined, metrics: Metrics, log: Log) {
    const map = config && openMap(file, config);
    this.file = config === undefined ? null : basename(file);
    this.isCluster = config?.cluster !== undefined;
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
    const config = file === '' ? undefined : await loadConfig('shards', file);
    return new KeyMinter(file, config as ShardConfig | undefined, metrics, log);
  }

  /**
   * @throws InvalidOptionError if there is no such type; StoreError if no shard answers
   * @throws RequestProblem 501 if there is no config of shards, 503 if the shards mint for another config
   */
  async mint(type: string | number | undefined, count: number): Promise<string[]> {
    if (this.#map === undefined)
      throw new RequestProblem(
        501,
        'NOT_CONFIGURED',
        'this server has no shards for keys: start it with --shards shards.json',
      );
    // Refuses a wrong type, the only mistake that the client can make here.
    if (type !== undefined) this.#map.fixedKey(0, 0, type);
    const keys = await this.#map.genKeys(type, count).catch((error) => {
      if (error?.code !== 'INVALID_OPTION') throw error;
      throw new RequestProblem(503, 'STORE', error.message, RETRY_SOON);
    });
    this.#metrics.minted.add(count, 'key', '');
    return keys;
  }

  /** The state of every shard; empty without shards. Requests at the same time share one question. */
  async status(): Promise<NodeStatus[]> {
    if (this.#map === undefined) return [];
    if (this.#asked === undefined || performance.now() > this.#asked.until) {
      const asked = { until: Number.POSITIVE_INFINITY, states: nodeStatus(this.#map) };
      const settled = () => {
        asked.until = performance.now() + STATUS_LIFETIME;
      };
      asked.states
        .then((states) => {
          this.#last = states;
        })
        .then(settled, settled);
      this.#asked = asked;
    }
    return this.#asked.states;
  }

  /** The shards for metrics: as they were at the last question, if one of them does not answer in time. */
  async gauges(): Promise<ShardGauge[]> {
    const states = (await inTime(this.status(), PATIENCE).catch(() => undefined)) ?? this.#last;
    return states.map(({ node, error }) => ({
      shard: node.name,
      address: node.address,
      isUp: error === undefined,
    }));
  }

  async close(): Promise<void> {
    await this.#map?.close();
  }
}

function openMap(file: string, config: ShardConfig): ShardMap {
  try {
    return new ShardMap(config);
  } catch (error) {
    throw new InvalidOptionError(`${file}: ${(error as Error).message}`, { cause: error });
  }
}
