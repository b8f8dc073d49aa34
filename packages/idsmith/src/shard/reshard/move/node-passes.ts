import type { ReshardContext } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import type { KeyPlacement } from '../plan/key-placement.js';
import { scanKeys } from '../plan/scan-keys.js';
import { type RedisKey, redisKeyText } from '../redis-key.js';
import { ConcurrentTasks } from './concurrent-tasks.js';
import type { KeyMover } from './key-mover.js';
import type { ProgressTracker } from './progress.js';
import type { RateLimit } from './rate-limit.js';

/** The number of attempts to move keys that applications write all the time. Then the next pass tries them again. */
const MAX_TRIES = 20;

/** The parts that a pass works with. */
interface PassSettings {
  readonly placement: KeyPlacement;
  readonly mover: KeyMover;
  readonly progress: ProgressTracker;
  readonly rateLimit: RateLimit;
  readonly batch: number;
  /** The number of batches of one old node that are moved at the same time. */
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
}

/** Passes over all old nodes. Each pass moves the keys that it finds on a node that no longer owns them. */
export class NodePasses {
  readonly #context: ReshardContext;
  readonly #settings: PassSettings;

  constructor(context: ReshardContext, settings: PassSettings) {
    this.#context = context;
    this.#settings = settings;
  }

  /**
   * Makes one pass over all old nodes at the same time.
   *
   * @param isFirst true if the keys that are found count as progress
   * @returns the number of keys that had to move
   */
  async run(isFirst: boolean): Promise<number> {
    const failed = new AbortController();
    const found = await Promise.allSettled(
      this.#context.givingNodes.map((source) =>
        this.#clearNode(source, isFirst, failed.signal).catch((error) => {
          failed.abort();
          throw error;
        }),
      ),
    );
    const failure = found.find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    return found.reduce((sum, outcome) => sum + (outcome as PromiseFulfilledResult<number>).value, 0);
  }

  /** @param failed aborted when another node has failed */
  async #clearNode(source: NodeConnection, isFirst: boolean, failed: AbortSignal): Promise<number> {
    const { placement, progress, batch, concurrency, signal } = this.#settings;
    if (isFirst) progress.expect(await countKeys(source));
    const gathered = new Map<string, RedisKey[]>();
    const tasks = new ConcurrentTasks(concurrency);
    let found = 0;
    try {
      for await (const keys of scanKeys(source)) {
        const sorted = placement.sort(keys, source.address);
        const { leaving, leavingCount } = sorted;
        if (isFirst) progress.scanned(sorted);
        found += leavingCount;
        for (const [target, more] of leaving) {
          const waiting = [...(gathered.get(target) ?? []), ...more];
          while (waiting.length >= batch) {
            const next = waiting.splice(0, batch);
            await tasks.add(() => this.#moveBatch(source, target, next));
            signal?.throwIfAborted();
            if (failed.aborted) return found;
          }
          gathered.set(target, waiting);
        }
        signal?.throwIfAborted();
      }
      for (const [target, rest] of gathered)
        if (rest.length > 0) await tasks.add(() => this.#moveBatch(source, target, rest));
    } finally {
      await tasks.end();
    }
    tasks.throwIfFailed();
    return found;
  }

  async #moveBatch(source: NodeConnection, target: string, batch: readonly RedisKey[]): Promise<void> {
    const { mover, progress, rateLimit } = this.#settings;
    await rateLimit.wait(batch.length);
    const change = this.#context.ownerChange(source.address, target);
    // A scan may give a key twice. Two moves of one key in the same batch would disturb each other.
    let keys = distinct(batch);
    let isRetry = false;
    for (let tries = 0; keys.length > 0 && tries < MAX_TRIES; tries++) {
      const result = await mover.move(change, keys, isRetry);
      isRetry = result.hasChanged;
      progress.moved(source.address, target, result);
      // Large values are moved in several round trips, as many as it takes.
      if (result.again.length < keys.length) tries = -1;
      keys = result.again;
    }
  }
}

async function countKeys(node: NodeConnection): Promise<number> {
  const servers = await node.servers();
  const sizes = await Promise.all(servers.map((server) => server.command('counting', 'DBSIZE')));
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
}

function distinct(keys: readonly RedisKey[]): readonly RedisKey[] {
  const isText = keys.every((key) => typeof key === 'string');
  if (isText && new Set(keys).size === keys.length) return keys;
  return [...new Map(keys.map((key) => [redisKeyText(key), key])).values()];
}
