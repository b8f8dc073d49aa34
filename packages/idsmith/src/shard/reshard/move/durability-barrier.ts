import { StoreError } from '../../../errors.js';
import type { NodeConnection } from '../node-connection.js';
import type { Persistence } from '../plan/persistence.js';

/** The longest time that a node may take to write to disk or to a replica, ms. */
const TIMEOUT = 10_000;

/**
 * Waits until the copies on a target would survive a crash of the target, before their originals are deleted. Calls at the same
 * time share one wait: a wait covers everything that was written before it began.
 */
export class DurabilityBarrier {
  readonly #persistence: ReadonlyMap<string, Persistence>;
  readonly #timeout: number;
  /** For each target: the wait that has not begun yet. */
  readonly #next = new Map<NodeConnection, Promise<void>>();
  /** For each target: the wait under way. */
  readonly #running = new Map<NodeConnection, Promise<void>>();

  /** @param persistence the persistence of the targets by name */
  constructor(persistence: ReadonlyMap<string, Persistence>, timeout = TIMEOUT) {
    this.#persistence = persistence;
    this.#timeout = timeout;
  }

  /** The number of batches of one old node that may be under way. A wait for a disk takes up to a second, so many share it. */
  get concurrency(): number {
    const isSlow = [...this.#persistence.values()].some((one) => one.hasAof && one.canWaitForDisk);
    return isSlow ? 32 : 4;
  }

  /** @throws StoreError naming the target, if the copies are not safe in time */
  wait(target: NodeConnection): Promise<void> {
    const command = barrierOf(this.#persistence.get(target.name), this.#timeout);
    if (command === undefined) return Promise.resolve();
    const waiting = this.#next.get(target);
    if (waiting !== undefined) return waiting;
    const next = (this.#running.get(target) ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#next.delete(target);
        const running = waitOn(target, command);
        this.#running.set(target, running);
        return running;
      });
    this.#next.set(target, next);
    return next;
  }
}

/** The command that waits; `undefined` if the server has none, or nothing to wait for. */
function barrierOf(
  persistence: Persistence | undefined,
  timeout: number,
): readonly (string | number)[] | undefined {
  if (persistence === undefined) return undefined;
  if (persistence.hasAof) return persistence.canWaitForDisk ? ['WAITAOF', 1, 0, timeout] : undefined;
  return persistence.replicas > 0 ? ['WAIT', 1, timeout] : undefined;
}

async function waitOn(target: NodeConnection, command: readonly (string | number)[]): Promise<void> {
  const servers = await target.servers();
  const replies = await Promise.all(
    servers.map((server) => server.command('making keys durable', ...command)),
  );
  if (replies.some((reply) => Number(Array.isArray(reply) ? reply[0] : reply) < 1))
    throw new StoreError(
      `node ${target.name}: making keys durable failed: ${command[0]} had no success within ${command.at(-1)} ms. ` +
        'The keys are still at their old owners, too. Check the disk or the replica of the node, and run it again',
    );
}
