import { IdError } from '../../errors.js';
import { type BinaryClient, binaryClient, type CommandPart } from '../../redis/client.js';
import { ScriptRunner } from '../../redis/script-runner.js';
import { unlimited } from '../nodes/command-limit.js';
import type { ShardMap } from '../shard-map.js';
import type { ShardNode } from '../shard-nodes.js';

/** The longest time that a node may take to answer one command, ms. A large value takes long. */
const TIMEOUT = 30_000;

/** A node, as resharding talks to it: commands and scripts in bytes, and errors that name the node. */
export class NodeConnection {
  readonly node: ShardNode;
  readonly #map: ShardMap<unknown>;
  #runner: ScriptRunner<BinaryClient> | undefined;

  constructor(map: ShardMap<unknown>, node: ShardNode) {
    this.#map = map;
    this.node = node;
  }

  /** The address, which tells the servers of two configs apart. The names in `shards` may differ. */
  get name(): string {
    return this.node.address;
  }

  /**
   * Sends a command. Text in the reply comes as bytes.
   *
   * @param operation the name of the operation in error messages
   * @throws StoreError naming the node
   */
  async command(operation: string, ...parts: CommandPart[]): Promise<unknown> {
    return this.#connect(operation).use(operation, (client) => client.send(...parts));
  }

  /**
   * Runs a script. Text in the reply comes as bytes. After a timeout, Redis may still run the script. All scripts allow for
   * that.
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
    return (await this.#connect(operation).run(operation, script, keys, args)) as unknown[];
  }

  #connect(operation: string): ScriptRunner<BinaryClient> {
    try {
      this.#runner ??= new ScriptRunner(patient(binaryClient(this.#map.clientOf(this.node))), {
        timeout: TIMEOUT,
        errorOf: (failed, error) => this.errorOf(failed, error),
      });
      return this.#runner;
    } catch (error) {
      throw this.errorOf(operation, error);
    }
  }

  /** The error to throw for an error of a driver. */
  errorOf(operation: string, error: unknown): IdError {
    const sequence = this.#map.sequences[this.node.index];
    if (sequence === undefined || (error instanceof IdError && error.code !== 'STORE'))
      return error as IdError;
    return sequence.runner.errorOf(operation, error);
  }
}

/** A client without time limits of its own, because the script runner has one. */
function patient(client: BinaryClient): BinaryClient {
  return {
    send: (...parts) => unlimited(() => client.send(...parts)),
    evaluate: (...command) => unlimited(() => client.evaluate(...command)),
  };
}
