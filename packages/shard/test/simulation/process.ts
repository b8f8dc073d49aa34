import { IdError, StoreError } from 'idsmith';
import { withTimeout } from '../../../idsmith/src/support/timeout.ts';
import type { Machine } from '../../../idsmith/test/simulation/machine.ts';
import type { SeededRandom } from '../../../idsmith/test/simulation/random.ts';
import type { Wire } from '../../../idsmith/test/simulation/wire.ts';
import { type NodeSet, nodeSetOf } from '../../src/config/node-set.ts';
import type { ShardNode } from '../../src/config/shard-nodes.ts';
import { Minter } from '../../src/mint/minter.ts';
import type { NodeSequence } from '../../src/mint/node-sequence.ts';
import type { RedisConnection } from '../../src/redis/connection.ts';
import type { Ledger } from './ledger.ts';
import type { Server } from './server.ts';

/** The epoch of all maps. */
const EPOCH = Date.UTC(2024, 0, 1);

/** A server, and the way to it. */
export interface Link {
  readonly server: Server;
  readonly wire: Wire;
}

/** The sequences of a node set, as a process on a machine uses them. */
export function sequencesOf(
  links: readonly Link[],
  machine: Machine,
  maxSkew: number,
  timeout: number,
  takesOver: boolean,
  Sequence: typeof NodeSequence,
): NodeSequence[] {
  const nodes = links.map(({ server }, index) => nodeOf(server.address, index));
  const nodeSet: NodeSet = nodeSetOf({ nodes, epoch: EPOCH, maxSkew, takesOver } as unknown as Parameters<
    typeof nodeSetOf
  >[0]);
  return links.map((link, i) => new Sequence(runnerOf(link, nodes[i]!, machine, timeout), nodeSet));
}

function nodeOf(address: string, index: number): ShardNode {
  const [host, port] = address.split(':') as [string, string];
  return { name: String(index), index, address, host, port: Number(port), weight: 1, ringName: address };
}

/** Runs scripts on a simulated server. A process that has died sends nothing any more. */
function runnerOf(
  { server, wire }: Link,
  node: ShardNode,
  machine: Machine,
  timeout: number,
): RedisConnection {
  const errorOf = (operation: string, error: unknown) =>
    new StoreError(`node ${node.address}: ${operation}: ${error instanceof Error ? error.message : error}`);
  const send = (script: string, args: (string | number)[]) =>
    new Promise<unknown[]>((resolve, reject) => {
      machine.run(
        () => void wire.ask(machine, () => server.node.execute(script, args)).then(resolve, reject),
      );
    });
  const run = (operation: string, script: string, _keys: readonly string[], args: (string | number)[]) =>
    withTimeout(send(script, args), timeout, { timer: machine.timer }).catch((error) => {
      throw errorOf(operation, error);
    });
  return { node, run, errorOf } as unknown as RedisConnection;
}

/** A program as a user writes it: mints keys with its config. */
export class Process {
  readonly machine: Machine;
  readonly set: 0 | 1;
  /** When it last got a key. */
  mintedAt = Number.NEGATIVE_INFINITY;
  readonly #minter: Minter;
  readonly #ledger: Ledger;

  constructor(
    machine: Machine,
    set: 0 | 1,
    sequences: readonly NodeSequence[],
    timeout: number,
    ledger: Ledger,
  ) {
    this.machine = machine;
    this.set = set;
    this.#ledger = ledger;
    this.#minter = new Minter(sequences, sequences[0]!.nodeSet, timeout, { failed() {} });
  }

  /** Mints some keys, mostly a few. */
  mint(random: SeededRandom, now: () => number): void {
    if (!this.machine.isRunning) return;
    const count = random.chance(0.03) ? random.between(1, 2000) : random.between(1, 60);
    this.#minter.mint(2, count).then(
      (keys) => {
        this.mintedAt = now();
        this.#ledger.enter(keys, this.machine.name);
      },
      (error: unknown) => {
        if (!(error instanceof IdError))
          this.#ledger.violation ??= `${this.machine.name}: ${(error as Error).stack}`;
      },
    );
  }
}
