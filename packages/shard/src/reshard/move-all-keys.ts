import { StoreError } from 'idsmith/internal';
import { stemOf } from '../keys/codec.js';
import type { Persistence } from './checks.js';
import type { OwnerChange, ReshardContext } from './context.js';
import { type Direction, KeyMover } from './key-mover.js';
import type { KeyPlacement } from './key-placement.js';
import { type NodeConnection, scanKeys } from './node-connection.js';
import type { MoveSettings, RateLimit } from './options.js';
import { ProgressNotes, type ProgressTracker } from './progress.js';
import { INCOMING_KEY, OUTGOING_KEY, type RedisKey, redisKeyText } from './redis-keys.js';

/** The number of passes over all nodes after which the resharding gives up. */
const MAX_PASSES = 10;

/** The parts that a move of all keys works with. */
export interface MoveParts {
  /** The resharding in the direction of the move. */
  readonly context: ReshardContext;
  /** The round of the resharding that this process has begun or given up. */
  readonly round: number;
  readonly direction: Direction;
  readonly placement: KeyPlacement;
  readonly persistence: ReadonlyMap<string, Persistence>;
  readonly progress: ProgressTracker;
}

/**
 * Moves all keys that are on a node that no longer owns them. Makes passes over all nodes until a pass finds no key to move
 * and no mover has left anything unfinished.
 *
 * @throws StoreError naming a node that failed, or when processes with the other config write without end
 */
export async function moveAllKeys(parts: MoveParts, settings: MoveSettings): Promise<void> {
  const { context, round, direction, placement, persistence, progress } = parts;
  const { rateLimit, batch, signal, afterStep } = settings;
  const notes = new ProgressNotes(context, round);
  progress.tell((now) => notes.add(now));
  const mover = new KeyMover(context.reshardId, { afterStep, persistence, round, direction });
  const { concurrency } = mover;
  const passes = new NodePasses(context, {
    placement,
    mover,
    progress,
    rateLimit,
    batch,
    concurrency,
    signal,
  });
  for (let pass = 1; ; pass++) {
    const found = await passes.run(pass === 1);
    if (found === 0 && (await settleLeftovers(context, mover, direction)) === 0) return;
    if (pass === MAX_PASSES)
      throw new StoreError(
        `resharding does not end: after ${pass} passes there are still keys on nodes that no longer own them. ` +
          `Processes with the ${direction === 'out' ? 'old' : 'new'} config write there: stop these processes, and run it again`,
      );
  }
}

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

/** The number of leftovers that are settled at a time. */
const LEFTOVERS = 100;

/**
 * Finishes the moves that killed movers left unfinished: all keys with an entry in a list of a node. When keys go back, entries
 * of moves to new owners are removed after their keys are back.
 *
 * @param context the resharding in the direction of the mover
 * @returns the number of entries
 */
export async function settleLeftovers(
  context: ReshardContext,
  mover: KeyMover,
  direction: Direction = 'out',
): Promise<number> {
  let found = 0;
  for (const list of [INCOMING_KEY, OUTGOING_KEY])
    for (const node of context.nodes) {
      const keys = await node.listedKeys(list);
      found += keys.length;
      for (const { change, keys: some } of byOwnerChange(keys, context))
        for (let at = 0; at < some.length; at += LEFTOVERS)
          await settle(some.slice(at, at + LEFTOVERS), { context, mover, direction, change, node, list });
    }
  return found;
}

interface Leftovers {
  readonly context: ReshardContext;
  readonly mover: KeyMover;
  readonly direction: Direction;
  readonly change: OwnerChange;
  /** The node that has the entries, and its list. */
  readonly node: NodeConnection;
  readonly list: string;
}

async function settle(keys: readonly RedisKey[], leftovers: Leftovers): Promise<void> {
  const { context, mover, direction, change, node, list } = leftovers;
  const { source, target } = change;
  // Nothing comes from a node that is gone, and nothing can be brought there. The key stays where it is.
  if (context.gone.has(source.address) || context.gone.has(target.address)) {
    await node.unlist(list, await node.readEntries(list, keys));
    return;
  }
  const isOfOtherDirection = (list === INCOMING_KEY) === (node.address === source.address);
  const isUnlisted = direction === 'back' && isOfOtherDirection;
  const entries = isUnlisted ? await node.readEntries(list, keys) : new Map<RedisKey, Uint8Array>();
  const { again, lost } = await mover.move(change, keys);
  // Entries of the other direction were written before the resharding was given up. Nobody uses them any more.
  const unsettled = new Set([...again, ...lost].map(redisKeyText));
  for (const key of entries.keys()) if (unsettled.has(redisKeyText(key))) entries.delete(key);
  await node.unlist(list, entries);
}

function byOwnerChange(
  keys: readonly RedisKey[],
  context: ReshardContext,
): Iterable<{ readonly change: OwnerChange; readonly keys: RedisKey[] }> {
  const groups = new Map<string, { change: OwnerChange; keys: RedisKey[] }>();
  for (const key of keys) {
    // A key on a list has been moved by somebody, so it belongs to the map, whatever its name is.
    const change = context.ownerChangeOf(stemOf(redisKeyText(key)));
    if (change === undefined) continue;
    const name = `${change.source.address} ${change.target.address}`;
    const group = groups.get(name) ?? { change, keys: [] };
    groups.set(name, group);
    group.keys.push(key);
  }
  return groups.values();
}

/** Runs tasks with a limit on the number that run at the same time. */
export class ConcurrentTasks {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #error: unknown;
  #hasFailed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Starts a task as soon as fewer tasks run than the limit.
   *
   * @throws the error of the first task that failed
   */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    this.throwIfFailed();
    const running = task()
      .catch((error) => {
        this.#error ??= error;
        this.#hasFailed = true;
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits until all tasks have ended. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** @throws the error of the first task that failed */
  throwIfFailed(): void {
    if (this.#hasFailed) throw this.#error;
  }
}
