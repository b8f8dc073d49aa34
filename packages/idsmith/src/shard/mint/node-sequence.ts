import {
  ADOPT_NODE_SEQUENCE,
  CLOSE_NODE_SEQUENCE,
  MINT_KEYS,
  OPEN_NODE_SEQUENCE,
  PREPARE_NODE_SEQUENCE,
  READ_NODE_SEQUENCE,
  WITHDRAW_NODE_SEQUENCE,
} from '../../redis/scripts.js';
import type { NodeScriptRunner } from '../nodes/node-script-runner.js';
import type { ShardNode } from '../shard-nodes.js';
import type { MintBounds, MintingProof } from './mint-bounds.js';
import type { NodeSet } from './node-set.js';
import { type SequenceStatus, sequenceStatusOf } from './sequence-status.js';
import { type VariantSpan, widthOf } from './variants.js';

/** The answer to a request for keys: a range of keys, a time to wait, or a sequence that cannot mint now. */
export type MintReply =
  | KeyRange
  | { readonly kind: 'wait'; readonly ms: number; readonly proof: MintingProof }
  | { readonly kind: 'refused'; readonly status: SequenceStatus };

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
  readonly runner: NodeScriptRunner;
  readonly nodeSet: NodeSet;
  /** The last millisecond that this process got from the node. A sequence before it has been reset. */
  #seen = 0;

  constructor(runner: NodeScriptRunner, nodeSet: NodeSet) {
    this.runner = runner;
    this.nodeSet = nodeSet;
  }

  get node(): ShardNode {
    return this.runner.node;
  }

  /** @param operation the name of the operation in error messages */
  readStatus(operation = 'reading the sequence'): Promise<SequenceStatus> {
    return this.#ask(operation, READ_NODE_SEQUENCE);
  }

  prepare(generation: number): Promise<SequenceStatus> {
    return this.#ask('setting up the sequence', PREPARE_NODE_SEQUENCE, generation);
  }

  withdraw(): Promise<SequenceStatus> {
    return this.#ask('setting up the sequence', WITHDRAW_NODE_SEQUENCE);
  }

  open(base: number): Promise<SequenceStatus> {
    return this.#ask('opening the sequence', OPEN_NODE_SEQUENCE, base);
  }

  close(next: string, generation: number): Promise<SequenceStatus> {
    return this.#ask('closing the sequence', CLOSE_NODE_SEQUENCE, next, generation);
  }

  adopt(base: number, generation: number): Promise<SequenceStatus> {
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
      return { kind: 'refused', status: sequenceStatusOf(reply) };
    const [from, now, ms, variant, granted, restIn, first, final] = reply.slice(1).map(Number) as Reserved;
    const proof = { from, now };
    if (reply[0] === 'wait') return { kind: 'wait', ms, proof };
    const span = { first, last: final };
    const last = ms + Math.floor((variant - first + granted - 1) / widthOf(span)) * nodeSet.size;
    this.#seen = Math.max(this.#seen, last);
    return { kind: 'keys', ms, variant, count: granted, restIn, span, proof };
  }

  async #ask(operation: string, script: string, ...args: (string | number)[]): Promise<SequenceStatus> {
    return sequenceStatusOf(await this.#run(operation, script, ...args));
  }

  #run(operation: string, script: string, ...args: (string | number)[]): Promise<unknown[]> {
    const { fingerprint, nodes, epoch, lead, skew, hasMovedNodes } = this.nodeSet;
    const index = hasMovedNodes ? `${this.node.index} check` : this.node.index;
    const common = [fingerprint, nodes, epoch, lead, skew, this.#seen, index];
    return this.runner.run(operation, script, ...common, ...args);
  }
}

type Reserved = [number, number, number, number, number, number, number, number];
