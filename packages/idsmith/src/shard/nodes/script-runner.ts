import { IdError, StoreError } from '../../errors.js';
import { type Evaluate, evaluator, type IoredisClient } from '../../redis/evaluate.js';
import type { ShardNode, ShardSettings } from '../config.js';
import { type Clients, nodeError } from './clients.js';

/** The Redis of a node: runs scripts there, and tells what goes wrong by the node's name. */
export class ShardServer {
  readonly node: ShardNode;
  readonly #clients: Clients<unknown>;
  readonly #settings: ShardSettings;
  #evaluate: Evaluate | undefined;

  constructor(node: ShardNode, clients: Clients<unknown>, settings: ShardSettings) {
    this.node = node;
    this.#clients = clients;
    this.#settings = settings;
  }

  /**
   * Runs a script on the sequence of this node. One that is not answered in time may still be run later: the keys it
   * reserves are then nobody's.
   *
   * @throws StoreError naming the node
   */
  async run(what: string, script: string, ...args: (string | number)[]): Promise<unknown[]> {
    const { seqname, timeout } = this.#settings;
    try {
      await this.#clients.load();
      this.#evaluate ??= evaluator(this.#clients.of(this.node) as IoredisClient, timeout);
      return (await this.#evaluate(what, script, seqname, ...args.map(String))) as unknown[];
    } catch (error) {
      throw this.failure(what, error);
    }
  }

  /** The error of ours for what a driver has thrown: a `StoreError` naming the node. */
  failure(what: string, error: unknown): IdError {
    const reason = error instanceof StoreError && error.cause instanceof Error ? error.cause : error;
    return reason instanceof IdError ? reason : nodeError(this.node, what, reason, this.#settings);
  }
}
