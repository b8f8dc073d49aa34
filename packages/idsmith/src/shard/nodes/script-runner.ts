import { IdError, StoreError } from '../../errors.js';
import { type Evaluate, evaluator, type IoredisClient } from '../../redis/evaluate.js';
import type { ShardNode, ShardSettings } from '../config.js';
import { type NodeClients, nodeError } from './clients.js';

/** Runs scripts on the sequence of one node. Errors name the node. */
export class ScriptRunner {
  readonly node: ShardNode;
  readonly #clients: NodeClients<unknown>;
  readonly #settings: ShardSettings;
  #evaluate: Evaluate | undefined;

  constructor(node: ShardNode, clients: NodeClients<unknown>, settings: ShardSettings) {
    this.node = node;
    this.#clients = clients;
    this.#settings = settings;
  }

  /**
   * Runs a script on the sequence of this node. After a timeout, Redis may still run the script. Nobody gets the keys that
   * the script then reserves.
   *
   * @param operation the name of the operation in error messages
   * @throws StoreError naming the node
   */
  async run(operation: string, script: string, ...args: (string | number)[]): Promise<unknown[]> {
    const { seqname, timeout } = this.#settings;
    try {
      await this.#clients.load();
      this.#evaluate ??= evaluator(this.#clients.of(this.node) as IoredisClient, timeout);
      return (await this.#evaluate(operation, script, seqname, ...args.map(String))) as unknown[];
    } catch (error) {
      throw this.errorOf(operation, error);
    }
  }

  /** The error to throw for an error of a driver: a `StoreError` that names the node. */
  errorOf(operation: string, error: unknown): IdError {
    const reason = error instanceof StoreError && error.cause instanceof Error ? error.cause : error;
    return reason instanceof IdError ? reason : nodeError(this.node, operation, reason, this.#settings);
  }
}
