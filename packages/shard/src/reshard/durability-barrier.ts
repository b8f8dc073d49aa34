import { StoreError } from 'idsmith/internal';
import type { NodeConnection } from './node-connection.js';

/** The data of a node that survives a crash of the node. */
export interface Persistence {
  /** Writes go to an append-only file. */
  readonly hasAof: boolean;
  /** Replicas that are connected and in step. */
  readonly replicas: number;
  /** Nothing survives a crash: no append-only file, no replica, no snapshots. False if the node does not tell. */
  readonly keepsNothing: boolean;
  /** The server can wait until writes are on disk: `WAITAOF`, Redis 7.2 and later, unless `appendfsync` is `no`. */
  readonly canWaitForDisk: boolean;
}

const ASKING = 'asking about persistence';

/** Asks a node what survives a crash. A cluster is as safe as the least safe of its masters. */
export async function readPersistence(node: NodeConnection): Promise<Persistence> {
  const all = await Promise.all((await node.servers()).map(readServer));
  return {
    hasAof: all.every(({ hasAof }) => hasAof),
    replicas: Math.min(...all.map(({ replicas }) => replicas)),
    keepsNothing: all.some(({ keepsNothing }) => keepsNothing),
    canWaitForDisk: all.every(({ canWaitForDisk }) => canWaitForDisk),
  };
}

async function readServer(node: NodeConnection): Promise<Persistence> {
  const [persistence, replication, server, save, appendfsync] = await Promise.all([
    infoOf(node, ASKING, 'persistence'),
    infoOf(node, ASKING, 'replication'),
    infoOf(node, ASKING, 'server'),
    settingOf(node, 'save'),
    settingOf(node, 'appendfsync'),
  ]);
  const hasAof = persistence.get('aof_enabled') === '1';
  const replicas = [...replication].filter(
    ([name, value]) => /^slave\d+$/.test(name) && /\bstate=online\b/.test(value),
  ).length;
  const [major = 0, minor = 0] = (server.get('redis_version') ?? '').split('.').map(Number);
  return {
    hasAof,
    replicas,
    keepsNothing: !hasAof && replicas === 0 && save === '',
    canWaitForDisk: (major > 7 || (major === 7 && minor >= 2)) && appendfsync !== 'no',
  };
}

/** A section of INFO. */
export async function infoOf(
  node: NodeConnection,
  operation: string,
  section: string,
): Promise<Map<string, string>> {
  const text = String(await node.command(operation, 'INFO', section));
  return new Map(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

/** A setting of a node. `undefined` if the node does not tell, as managed servers do not. */
async function settingOf(node: NodeConnection, name: string): Promise<string | undefined> {
  try {
    const reply = await node.command(ASKING, 'CONFIG', 'GET', name);
    // Pairs come as a list, or as an object where the driver speaks RESP3.
    const pairs = Array.isArray(reply) ? reply.flat() : Object.entries(Object(reply)).flat();
    return pairs[1] === undefined ? undefined : String(pairs[1]);
  } catch {
    return undefined;
  }
}

/** The longest time that a node may take to write to disk or to a replica, ms. */
const TIMEOUT = 10_000;

/**
 * Waits until the copies on a target would survive a crash of the target, before their originals are deleted. Calls at the same
 * time share one wait: a wait covers everything that was written before it began.
 *
 * A wait covers only what was written on its own connection. A driver connects again without a word, so the ids of the connections
 * are compared: those before the copies were written with those after the wait.
 */
export class DurabilityBarrier {
  readonly #persistence: ReadonlyMap<string, Persistence>;
  readonly #timeout: number;
  /** For each target: the wait that has not begun yet. */
  readonly #next = new Map<NodeConnection, Promise<string>>();
  /** For each target: the wait under way. */
  readonly #running = new Map<NodeConnection, Promise<unknown>>();

  /** @param persistence the persistence of the targets by address */
  constructor(persistence: ReadonlyMap<string, Persistence>, timeout = TIMEOUT) {
    this.#persistence = persistence;
    this.#timeout = timeout;
  }

  /** The number of batches of one old node that may be under way. A wait for a disk takes up to a second, so many share it. */
  get concurrency(): number {
    const isSlow = [...this.#persistence.values()].some((one) => one.hasAof && one.canWaitForDisk);
    return isSlow ? 32 : 6;
  }

  /** The ids of the connections to a target, to be asked for before copies are written; empty if nobody waits. */
  async connections(target: NodeConnection): Promise<string> {
    const isNeeded = barrierOf(this.#persistence.get(target.address), this.#timeout) !== undefined;
    return isNeeded ? connectionsOf(await target.servers()) : '';
  }

  /**
   * Waits for the copies on a target.
   *
   * @returns the ids of the connections. If they are other ones than before the copies were written, nothing is known of the copies
   * @throws StoreError naming the target, if the copies are not safe in time
   */
  wait(target: NodeConnection): Promise<string> {
    const command = barrierOf(this.#persistence.get(target.address), this.#timeout);
    if (command === undefined) return Promise.resolve('');
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

const WAITING = 'making keys durable';

/** The ids of connections are never used again, as long as a server runs. */
async function connectionsOf(servers: readonly NodeConnection[]): Promise<string> {
  const ids = await Promise.all(servers.map((server) => server.command(WAITING, 'CLIENT', 'ID')));
  return ids.map(String).join(' ');
}

async function waitOn(target: NodeConnection, command: readonly (string | number)[]): Promise<string> {
  const servers = await target.servers();
  const replies = await Promise.all(servers.map((server) => server.command(WAITING, ...command)));
  if (replies.some((reply) => Number(Array.isArray(reply) ? reply[0] : reply) < 1))
    throw new StoreError(
      `node ${target.address}: ${WAITING} failed: ${command[0]} had no success within ${command.at(-1)} ms. ` +
        'The keys are still at their old owners, too. Check the disk or the replica of the node, and run it again',
    );
  return connectionsOf(servers);
}
