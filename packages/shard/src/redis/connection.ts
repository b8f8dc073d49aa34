import {
  type CommandPart,
  type IdError,
  redisError,
  type ScriptClient,
  ScriptRunner,
  StoreError,
} from 'idsmith/internal';
import type { ShardNode } from '../config/shard-nodes.js';

/** Options of a {@link RedisConnection}. */
export interface ConnectionOptions<Client> {
  /** Opens the way to the node, on first use. It throws the error that is the same for all nodes. */
  readonly load?: () => Promise<void>;
  /** Makes the client, on first use. */
  readonly client: () => Client;
  /** The longest time that the node may take to answer, ms. */
  readonly timeout: number;
  /** A secret that messages must not show. */
  readonly password: string | undefined;
}

/** The way to one node: scripts and commands with a time limit, and errors that name the node. */
export class RedisConnection<Client extends ScriptClient = ScriptClient> {
  readonly node: ShardNode;
  readonly #options: ConnectionOptions<Client>;
  #runner: ScriptRunner<Client> | undefined;

  constructor(node: ShardNode, options: ConnectionOptions<Client>) {
    this.node = node;
    this.#options = options;
  }

  /**
   * Runs a script. After a timeout, Redis may still run the script. All scripts allow for that.
   *
   * @param operation the name of the operation in error messages
   * @throws StoreError naming the node
   */
  async run(
    operation: string,
    script: string,
    keys: readonly CommandPart[],
    args: readonly CommandPart[] = [],
  ): Promise<unknown[]> {
    const runner = await this.#connect(operation);
    return (await runner.run(operation, script, keys, args)) as unknown[];
  }

  /** Uses the client for something else, with the same timeout and the same errors. */
  async use<T>(operation: string, work: (client: Client) => Promise<T>): Promise<T> {
    const runner = await this.#connect(operation);
    return runner.use(operation, work);
  }

  async #connect(operation: string): Promise<ScriptRunner<Client>> {
    const { load, client, timeout } = this.#options;
    await load?.();
    try {
      this.#runner ??= new ScriptRunner(client(), {
        timeout,
        errorOf: (failed, error) => this.errorOf(failed, error),
      });
      return this.#runner;
    } catch (error) {
      throw this.errorOf(operation, error);
    }
  }

  /** The error to throw for an error of a driver: a `StoreError` that names the node. */
  errorOf(operation: string, error: unknown): IdError {
    // The error of a command names the command. The error of its operation says more.
    const reason = error instanceof StoreError && error.cause instanceof Error ? error.cause : error;
    return redisError(`node ${this.node.address}`, operation, reason, this.#options.password);
  }
}
