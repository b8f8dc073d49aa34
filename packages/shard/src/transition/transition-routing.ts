import { InvalidOptionError, pause, systemTimer } from 'idsmith/internal';
import type { ShardNode } from '../config/shard-nodes.js';
import type { KeyRouting, ShardMap } from '../map/shard-map.js';
import { askNodes, NodeSetConflictError } from '../mint/node-sequence.js';
import { requireTakenOver } from '../mint/open-sequences.js';
import type { OwnerChange, ReshardContext } from '../reshard/context.js';
import type { NodeConnection } from '../reshard/node-connection.js';
import { CommandRouter } from './command-router.js';
import { transitionClient } from './transition-client.js';

/** The longest time that minting waits for a handover to finish, ms. A killed handover finishes when it is run again. */
const HANDOVER_TIMEOUT = 10_000;

/** The time between two attempts to mint during a handover, ms. */
const HANDOVER_POLL_INTERVAL = 20;

/** Mints keys and hands out clients for two maps while keys move from one to the other. */
export class TransitionRouting implements KeyRouting {
  readonly #context: ReshardContext;
  readonly #router: CommandRouter;
  #isHandedOver = false;
  /** The clients of the old and the new nodes are of one package. */
  #isOnePackage = false;

  constructor(context: ReshardContext) {
    this.#context = context;
    this.#router = new CommandRouter(context);
  }

  ownerNow(key: string): ShardNode {
    const change = this.#router.ownerChangeOf(key);
    if (change === undefined) return this.#context.to.ownerOf(key);
    return this.#router.isAtNewOwner(change) ? change.target.node : change.source.node;
  }

  getClient(key: string): unknown {
    const { from, to } = this.#context;
    const change = this.#router.ownerChangeOf(key);
    if (change === undefined) {
      const owner = to.ownerOf(key);
      const client = to.clientOf(owner) as object;
      if (this.#router.isKnownToFit) return client;
      // The key stays. Its first commands wait until the nodes have told that the two maps fit them.
      const node = this.#context.targets.get(owner.address) as NodeConnection;
      return transitionClient(this.#router, key, { source: node, target: node }, () => client);
    }
    this.#requireOnePackage(change);
    const present = () =>
      (this.#router.isAtNewOwner(change)
        ? to.clientOf(change.target.node)
        : from.clientOf(change.source.node)) as object;
    return transitionClient(this.#router, key, change, present);
  }

  /**
   * A client of the map sends each command with the method that its caller has chosen, to either owner. The two packages name
   * their methods differently, so a command would have no method after the move.
   *
   * @throws InvalidOptionError naming the package of each map, and the way out
   */
  #requireOnePackage({ source, target }: OwnerChange): void {
    if (this.#isOnePackage) return;
    const before = packageOf(this.#context.from.clientOf(source.node));
    const after = packageOf(this.#context.to.clientOf(target.node));
    if (before !== after)
      throw new InvalidOptionError(
        `the clients of the old nodes are of the package ${before} and those of the new nodes of ${after}: both configs need clients ` +
          `of one package, for example with driver: 'ioredis' in both. cluster.nodes and Sentinels need ioredis`,
      );
    this.#isOnePackage = true;
  }

  /** Mints on the old nodes until the handover, then on the new ones. During the handover, nobody mints for a moment. */
  async mint(type: number, count: number, signal: AbortSignal | undefined): Promise<string[]> {
    const until = performance.now() + HANDOVER_TIMEOUT;
    for (;;) {
      try {
        return await this.#mintNow(type, count, signal);
      } catch (error) {
        if (!(error instanceof NodeSetConflictError) || performance.now() > until) throw error;
      }
      await pause(systemTimer, HANDOVER_POLL_INTERVAL, false);
      signal?.throwIfAborted();
    }
  }

  /** After the resharding was given up, minting is handed back. So both maps are tried, the one that minted last first. */
  async #mintNow(type: number, count: number, signal: AbortSignal | undefined): Promise<string[]> {
    const { from, to } = this.#context;
    const [first, second] = this.#isHandedOver ? [to, from] : [from, to];
    try {
      return await first.mint(type, count, signal);
    } catch (error) {
      if (!(error instanceof NodeSetConflictError)) throw error;
    }
    // Minting may have left the old nodes for others than the new ones, which must not begin by themselves then.
    if (second === to)
      requireTakenOver(await askNodes(to.sequences, (sequence) => sequence.readStatus('minting keys')));
    const keys = await second.mint(type, count, signal);
    this.#isHandedOver = second === to;
    return keys;
  }

  async settle(keys: readonly string[]): Promise<void> {
    await Promise.all(
      keys.map(async (key) => {
        const change = this.#router.ownerChangeOf(key);
        if (change !== undefined) await this.#router.settle(change, [key]);
      }),
    );
  }

  close(): Promise<void> {
    return this.#router.close();
  }
}

/** The outcome of a resharding, which decides how its two maps work afterwards. */
export type ReshardOutcome = 'not begun' | 'not finished' | 'finished' | 'aborted';

/**
 * Makes the two maps of a resharding behave as maps in transition, in the process that runs it.
 *
 * @returns a function to call with the outcome
 */
export function startTransition(context: ReshardContext): (outcome: ReshardOutcome) => Promise<void> {
  const { from, to } = context;
  const routing = new TransitionRouting(context);
  const before = [from, to].map((map) => map.routing);
  for (const map of [from, to]) map.routing = routing;
  return async (outcome) => {
    // Some keys are at old owners and some at new ones, so both maps stay in transition.
    if (outcome === 'not finished') return;
    await routing.close();
    if (outcome === 'not begun') [from.routing, to.routing] = before;
    else if (outcome === 'finished') [from.routing, to.routing] = [new ForwardingRouting(to), undefined];
    else [from.routing, to.routing] = [undefined, new ForwardingRouting(from)];
  };
}

/** Forwards users of one map to the other one after the resharding: to the new map, or to the old one if it was given up. */
class ForwardingRouting implements KeyRouting {
  readonly #to: ShardMap<unknown>;

  constructor(to: ShardMap<unknown>) {
    this.#to = to;
  }

  ownerNow(key: string): ShardNode {
    return this.#to.ownerOf(key);
  }

  getClient(key: string): unknown {
    return this.#to.ownClient(this.#to.ownerOf(key), key);
  }

  mint(type: number, count: number, signal: AbortSignal | undefined): Promise<string[]> {
    return this.#to.mint(type, count, signal);
  }
}

/** The package of a client, by the name of a method. */
const packageOf = (client: unknown) => {
  const { evalSha } = (client ?? {}) as { evalSha?: unknown };
  return typeof evalSha === 'function' ? 'redis' : 'ioredis';
};
