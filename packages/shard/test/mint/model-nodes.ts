import { StoreError } from '../../../idsmith/src/errors.ts';
import { nodeSetOf } from '../../src/config/node-set.ts';
import type { ShardNode } from '../../src/config/shard-nodes.ts';
import { NodeSequence } from '../../src/mint/node-sequence.ts';
import type { RedisConnection } from '../../src/redis/connection.ts';
import { NodeModel, type SequenceHash } from '../simulation/node-model.ts';

export const EPOCH = Date.UTC(2024, 0, 1);
export const SKEW = 50;

/** One question to a node: the number of the node, the operation, and the arguments of the script. */
export interface Question {
  readonly number: number;
  readonly operation: string;
  readonly args: readonly (string | number)[];
}

/** Nodes without Redis. The model of a node is compared with a real Redis in test/node-model.slow.test.ts. */
export class ModelNodes {
  readonly models: readonly NodeModel[];
  /** The clock of each node, ms since the epoch. */
  readonly clocks: number[];
  /** The time that the clocks have run, ms. */
  elapsed = () => 0;
  /** The numbers of nodes that do not answer. */
  readonly silent = new Set<number>();
  /** All questions, in their order. */
  readonly asked: Question[] = [];
  /** Called before a node answers. */
  onQuestion: (question: Question) => unknown = () => {};

  constructor(count: number, now = 1_000_000) {
    this.clocks = Array.from({ length: count }, () => now);
    this.models = this.clocks.map(
      (_, i) => new NodeModel(`server ${i}`, () => EPOCH + (this.clocks[i] as number) + this.elapsed()),
    );
  }

  static addressOf(number: number): string {
    return `10.0.0.${number}:6379`;
  }

  /** The sequences of a node set with these nodes, as one process uses them. */
  set(numbers: readonly number[], options: { maxSkew?: number; epoch?: number } = {}): NodeSequence[] {
    const nodes = numbers.map(
      (number, index): ShardNode => ({
        name: String(index),
        index,
        address: ModelNodes.addressOf(number),
        host: `10.0.0.${number}`,
        port: 6379,
        weight: 1,
        ringName: ModelNodes.addressOf(number),
      }),
    );
    const settings = { nodes, epoch: EPOCH, maxSkew: SKEW, ...options };
    const nodeSet = nodeSetOf(settings as unknown as Parameters<typeof nodeSetOf>[0]);
    return numbers.map((number, i) => new NodeSequence(this.#runner(number, nodes[i] as ShardNode), nodeSet));
  }

  #runner(number: number, node: ShardNode): RedisConnection {
    const errorOf = (operation: string, error: unknown) =>
      new StoreError(`node ${node.address}: ${operation} failed: ${(error as Error).message}`);
    const run = async (
      operation: string,
      script: string,
      _keys: readonly string[],
      args: (string | number)[],
    ) => {
      const question = { number, operation, args };
      this.asked.push(question);
      await this.onQuestion(question);
      if (this.silent.has(number)) throw new StoreError(`node ${node.address} is silent`);
      return (this.models[number] as NodeModel).execute(script, args);
    };
    return { node, run, errorOf } as unknown as RedisConnection;
  }

  hash(number: number): SequenceHash | undefined {
    return this.models[number]?.hash;
  }

  /** Changes the hash of a node, as if it had been written so. */
  change(number: number, changes: Partial<SequenceHash>): void {
    const model = this.models[number] as NodeModel;
    model.hash = { ...(model.hash as SequenceHash), ...changes };
  }

  /** The operations that the nodes were asked for since the last call, as `number operation`. */
  operations(): string[] {
    return this.asked.splice(0).map(({ number, operation }) => `${number} ${operation}`);
  }
}

/** The error of a promise that has to be rejected. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('it was not refused');
    },
    (error) => error,
  );
}
