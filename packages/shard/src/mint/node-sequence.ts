import { IdError, InvalidOptionError } from 'idsmith/internal';
import type { NodeSet } from '../config/node-set.js';
import type { ShardNode } from '../config/shard-nodes.js';
import { type VariantSpan, widthOf } from '../keys/variants.js';
import type { RedisConnection } from '../redis/connection.js';
import {
  ADOPT_NODE_SEQUENCE,
  CLOSE_NODE_SEQUENCE,
  MINT_KEYS,
  OPEN_NODE_SEQUENCE,
  PREPARE_NODE_SEQUENCE,
  READ_NODE_SEQUENCE,
  RESERVE_NODE_SEQUENCE,
  WITHDRAW_NODE_SEQUENCE,
} from '../redis/scripts.js';
import type { MintBounds, MintingProof } from './mint-bounds.js';

/** The state of a node's sequence, as a process of some node set reads it. */
export interface NodeSequenceStatus {
  /**
   * `missing` if the node has no sequence; otherwise the owner: the reader's node set or another one. `misplaced` if the node
   * has another index in the reader's node set than the reader thinks.
   */
  readonly whose: 'missing' | 'own' | 'foreign' | 'misplaced';
  readonly state: '' | 'pending' | 'reserved' | 'open' | 'closed';
  /** The fingerprint of the node set that owns the sequence. */
  readonly fingerprint: string;
  /** The fingerprint of the node set that a closed sequence was handed over to. */
  readonly next: string;
  /** The nodes of the owning node set, for people. */
  readonly nodes: string;
  readonly generation: number;
  /** No node set has minted a key beyond this millisecond on the node. */
  readonly high: number;
  /** The owning node set mints on the node beyond this millisecond only. */
  readonly from: number;
  /** The sequence is missing, or may be older than the last key that was minted. */
  readonly lost: boolean;
  /** The clock of the node, ms since the epoch. */
  readonly now: number;
}

/** The answer to a request for keys: a range of keys, a time to wait, or a sequence that cannot mint now. */
export type MintReply =
  | KeyRange
  | { readonly kind: 'wait'; readonly ms: number; readonly proof: MintingProof }
  | { readonly kind: 'refused'; readonly status: NodeSequenceStatus };

/** Consecutive keys of one node. */
export interface KeyRange {
  readonly kind: 'keys';
  readonly ms: number;
  readonly variant: number;
  readonly count: number;
  /** The time until the node can give the rest of the keys that were asked for, ms. */
  readonly restIn: number;
  /** The variants that the keys use in each millisecond. */
  readonly span: VariantSpan;
  readonly proof: MintingProof;
}

/** The sequence of one node, as the processes of one node set use it. */
export class NodeSequence {
  readonly connection: RedisConnection;
  readonly nodeSet: NodeSet;
  /** The last millisecond that this process got from the node. A sequence before it has been reset. */
  #seen = 0;

  constructor(connection: RedisConnection, nodeSet: NodeSet) {
    this.connection = connection;
    this.nodeSet = nodeSet;
  }

  get node(): ShardNode {
    return this.connection.node;
  }

  /** @param operation the name of the operation in error messages */
  readStatus(operation = 'reading the sequence'): Promise<NodeSequenceStatus> {
    return this.#ask(operation, READ_NODE_SEQUENCE);
  }

  prepare(generation: number): Promise<NodeSequenceStatus> {
    return this.#ask('setting up the sequence', PREPARE_NODE_SEQUENCE, generation);
  }

  withdraw(state: 'pending' | 'reserved'): Promise<NodeSequenceStatus> {
    return this.#ask('setting up the sequence', WITHDRAW_NODE_SEQUENCE, state);
  }

  open(base: number, generation: number): Promise<NodeSequenceStatus> {
    return this.#ask('opening the sequence', OPEN_NODE_SEQUENCE, base, generation);
  }

  reserve(generation: number): Promise<NodeSequenceStatus> {
    return this.#ask('handing the sequence over', RESERVE_NODE_SEQUENCE, generation);
  }

  close(next: string, generation: number): Promise<NodeSequenceStatus> {
    return this.#ask('closing the sequence', CLOSE_NODE_SEQUENCE, next, generation);
  }

  adopt(base: number, generation: number): Promise<NodeSequenceStatus> {
    return this.#ask('handing the sequence over', ADOPT_NODE_SEQUENCE, base, generation);
  }

  /**
   * Reserves up to `count` keys in milliseconds of at least `above`.
   *
   * @param bounds the milliseconds that no other node set mints. Without bounds, the keys use the variants for nodes that
   *   do not know such bounds.
   */
  async mint(count: number, above: number, bounds: MintBounds | undefined): Promise<MintReply> {
    const { nodeSet } = this;
    const lowest = Math.max(above, bounds === undefined ? 0 : bounds.after + 1);
    const sure = bounds === undefined ? ['unsure'] : ['sure', bounds.until];
    const reply = await this.#run('minting keys', MINT_KEYS, ...[nodeSet.size, count, lowest, ...sure]);
    if (reply[0] !== 'wait' && reply[0] !== 'keys')
      return { kind: 'refused', status: nodeSequenceStatusOf(reply) };
    const [from, now, ms, variant, granted, restIn, first, final] = reply.slice(1).map(Number) as Reserved;
    const proof = { from, now };
    if (reply[0] === 'wait') return { kind: 'wait', ms, proof };
    const span = { first, last: final };
    const last = ms + Math.floor((variant - first + granted - 1) / widthOf(span)) * nodeSet.size;
    this.#seen = Math.max(this.#seen, last);
    return { kind: 'keys', ms, variant, count: granted, restIn, span, proof };
  }

  async #ask(operation: string, script: string, ...args: (string | number)[]): Promise<NodeSequenceStatus> {
    return nodeSequenceStatusOf(await this.#run(operation, script, ...args));
  }

  #run(operation: string, script: string, ...args: (string | number)[]): Promise<unknown[]> {
    const { seqname, fingerprint, nodes, epoch, lead, skew, hasMovedNodes } = this.nodeSet;
    const index = hasMovedNodes ? `${this.node.index} check` : this.node.index;
    const common = [fingerprint, nodes, epoch, lead, skew, this.#seen, index];
    return this.connection.run(operation, script, [seqname], [...common, ...args]);
  }
}

type Reserved = [number, number, number, number, number, number, number, number];

/** Reads the reply of a script that returns the status of a sequence. */
export function nodeSequenceStatusOf(reply: readonly unknown[]): NodeSequenceStatus {
  const [whose, state, next, nodes, generation, high, lost, fingerprint, now, from] = reply;
  return {
    whose: String(whose) as NodeSequenceStatus['whose'],
    state: String(state) as NodeSequenceStatus['state'],
    fingerprint: String(fingerprint),
    next: String(next),
    nodes: String(nodes),
    generation: Number(generation),
    high: Number(high),
    from: Number(from),
    lost: Number(lost) === 1,
    now: Number(now),
  };
}

/** The proof in the status of a sequence; `undefined` if the node does not mint for the reader's node set. */
export function mintingProofOf({
  whose,
  state,
  lost,
  from,
  now,
}: NodeSequenceStatus): MintingProof | undefined {
  return whose === 'own' && state === 'open' && !lost ? { from, now } : undefined;
}

/** The answer of one node: the status of its sequence, or the error if the node did not answer. */
export interface NodeAnswer {
  readonly sequence: NodeSequence;
  readonly status: NodeSequenceStatus | IdError;
}

/** Asks all nodes the same question at the same time. */
export async function askNodes(
  sequences: readonly NodeSequence[],
  ask: (sequence: NodeSequence) => Promise<NodeSequenceStatus>,
): Promise<NodeAnswer[]> {
  return Promise.all(
    sequences.map(async (sequence) => {
      const status = await ask(sequence).catch((error) => {
        if (error instanceof IdError) return error;
        throw error;
      });
      return { sequence, status };
    }),
  );
}

/** @throws the error of the first node that did not answer */
export function requireAnswers(answers: readonly NodeAnswer[]): [NodeSequence, NodeSequenceStatus][] {
  return answers.map(({ sequence, status }) => {
    if (status instanceof IdError) throw status;
    return [sequence, status];
  });
}

/** Another node set owns the sequence of a node. This node set mints nothing until that is settled. */
export class NodeSetConflictError extends InvalidOptionError {
  /** The fingerprint of the node set that mints in place of this one, or will. */
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

/** @throws NodeSetConflictError when the sequence of `node` belongs to another node set, or was handed over to one */
export function requireOwnSequence(node: ShardNode, nodeSet: NodeSet, status: NodeSequenceStatus): void {
  if (status.whose === 'foreign' && status.nodes === nodeSet.nodes)
    throw new NodeSetConflictError(
      `shards: node ${node.address} mints keys for the same nodes with another maxSkew or epoch than this config (maxSkew ${nodeSet.skew}, ` +
        `epoch ${nodeSet.epoch}): keys could repeat. Use the same maxSkew and epoch in all processes`,
      status.fingerprint,
    );
  if (status.whose === 'foreign')
    throw new NodeSetConflictError(
      `shards: node ${node.address} mints keys for other nodes or another epoch (${status.nodes}), not for ` +
        `${nodeSet.nodes}: keys would repeat. Use the same config in all processes. If a server has only got another ` +
        'address, stop the server at the old address, and give the entry the old address as ringName. If this config has ' +
        'other nodes and is the right one, stop the processes with the other config, and reshard from that config to this one',
      status.fingerprint,
    );
  if (status.whose === 'misplaced')
    throw new NodeSetConflictError(
      `shards: node ${node.address} is not shards.${node.name}, but another node of ${nodeSet.nodes}: keys would repeat. ` +
        'The addresses in this config are mixed up: give every ringName the address of its own server',
      status.fingerprint,
    );
  if (status.whose === 'own' && status.state === 'closed')
    throw new NodeSetConflictError(
      `shards: node ${node.address} no longer mints for ${nodeSet.nodes}: minting was handed over to other nodes. ` +
        'Use the new config',
      status.next,
    );
}
