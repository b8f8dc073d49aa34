import { type IdError, StoreError } from '../../errors.js';
import { type ScriptClient, textClient } from '../../redis/client.js';
import { redisError } from '../../redis/error.js';
import { ScriptRunner } from '../../redis/script-runner.js';
import type { ShardSettings } from '../config.js';
import type { ShardNode } from '../shard-nodes.js';
import type { NodeClients } from './clients.js';
import { limitedByCaller } from './command-limit.js';

/** Runs scripts on the sequence of one node. Errors name the node. */
export class NodeScriptRunner {
  readonly node: ShardNode;
  readonly #clients: NodeClients<unknown>;
  readonly #settings: ShardSettings;
  #runner: ScriptRunner | undefined;

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
    const runner = await this.#connect(operation);
    return (await runner.run(operation, script, [this.#settings.seqname], args)) as unknown[];
  }

  async #connect(operation: string): Promise<ScriptRunner> {
    // The error of a driver that is not installed is the same for all nodes.
    await this.#clients.load();
    try {
      this.#runner ??= new ScriptRunner(
        patient(textClient(this.#clients.of(this.node)), this.#settings.timeout),
        {
          timeout: this.#settings.timeout,
          errorOf: (failed, error) => this.errorOf(failed, error),
        },
      );
      return this.#runner;
    } catch (error) {
      throw this.errorOf(operation, error);
    }
  }

  /** The error to throw for an error of a driver: a `StoreError` that names the node. */
  errorOf(operation: string, error: unknown): IdError {
    // The error of a command names the command. The error of its operation says more.
    const reason = error instanceof StoreError && error.cause instanceof Error ? error.cause : error;
    return redisError(
      `node ${this.node.address}`,
      operation,
      reason,
      this.#settings.logins[this.node.index]?.password,
    );
  }
}

/** A client without time limits of its own, because the script runner has one. */
function patient(client: ScriptClient, timeout: number): ScriptClient {
  return { evaluate: (...command) => limitedByCaller(timeout, () => client.evaluate(...command)) };
}
