import { bytesToHex } from '../../encoding/hex.js';
import { md5 } from '../../encoding/md5.js';
import type { ShardNode, ShardSettings } from '../config.js';
import type { ShardServer } from '../nodes/script-runner.js';
import type { Bounds, Proof } from './mint-bounds.js';
import { ADOPT, CLOSE, LOOK, MINT, OPEN, PREPARE, WITHDRAW } from './node-sequence-scripts.js';
import { type VariantSpan, widthOf } from './variants.js';

/**
 * How far ahead of its clock a node may mint, ms: enough for bursts. The same for all rings, since a node that has lost
 * its mark does not know how many nodes the ring had that minted there.
 */
const LEAD = 1000;

/** A set of nodes that mint for one another: each its own class of milliseconds. */
export interface Ring {
  /** The same for all processes with the same nodes in the same order, the same epoch and the same `maxSkew`. */
  readonly fingerprint: string;
  /** The nodes, for people. */
  readonly nodes: string;
  readonly size: number;
  readonly epoch: number;
  /** How far ahead of its clock a node may mint, ms. */
  readonly lead: number;
  readonly skew: number;
}

export function ringOf({ nodes, epoch, maxSkew }: ShardSettings): Ring {
  const names = nodes.map(({ name }) => name);
  const identity = JSON.stringify([epoch, maxSkew, ...names]);
  return {
    fingerprint: bytesToHex(md5(new TextEncoder().encode(identity))),
    nodes: describeNodes(nodes),
    size: nodes.length,
    epoch,
    lead: LEAD,
    skew: maxSkew,
  };
}

function describeNodes(nodes: readonly ShardNode[]): string {
  const names = nodes.map(({ name }) => name).join(', ');
  return names.length > 200 ? `${names.slice(0, 197)}... (${nodes.length} nodes)` : names;
}

/** What a node's mark says, read by a process of some ring. */
export interface MarkStatus {
  /** Whether there is a mark, and whether it is of the reader's ring. */
  readonly whose: 'missing' | 'own' | 'foreign';
  readonly state: '' | 'pending' | 'open' | 'closed';
  /** The fingerprint of the ring whose mark it is. */
  readonly ring: string;
  /** The fingerprint of the ring it was closed for. */
  readonly next: string;
  /** The nodes of the mark's ring, for people. */
  readonly nodes: string;
  readonly generation: number;
  /** No key beyond this millisecond was minted here, by whichever ring. */
  readonly high: number;
  /** The mark's ring mints here beyond this millisecond. */
  readonly from: number;
  /** The mark is gone, or may be older than what was minted. */
  readonly lost: boolean;
  /** The clock of the node, ms since the epoch. */
  readonly now: number;
}

/** What came of asking for keys: a range of them, how long to wait, or a mark with which none can be minted. */
export type Minted =
  | KeyRange
  | { readonly kind: 'wait'; readonly ms: number; readonly proof: Proof }
  | { readonly kind: 'refused'; readonly status: MarkStatus };

/** Consecutive keys of one node. */
export interface KeyRange {
  readonly kind: 'keys';
  readonly ms: number;
  readonly variant: number;
  readonly count: number;
  /** How long it takes, ms, until the node would have had all that were asked for. */
  readonly more: number;
  /** The variants of each millisecond that they are taken from. */
  readonly span: VariantSpan;
  readonly proof: Proof;
}

/** The mark of one node, as the processes of a ring use it. */
export class Mark {
  readonly server: ShardServer;
  readonly ring: Ring;
  /** The last millisecond that this process was given here: a mark before it has been reset. */
  #seen = 0;

  constructor(server: ShardServer, ring: Ring) {
    this.server = server;
    this.ring = ring;
  }

  get node(): ShardNode {
    return this.server.node;
  }

  /** @param what it is for, as an error would call it */
  look(what = 'reading the sequence'): Promise<MarkStatus> {
    return this.#ask(what, LOOK);
  }

  prepare(generation: number): Promise<MarkStatus> {
    return this.#ask('setting up the sequence', PREPARE, generation);
  }

  withdraw(): Promise<MarkStatus> {
    return this.#ask('setting up the sequence', WITHDRAW);
  }

  open(base: number): Promise<MarkStatus> {
    return this.#ask('opening the sequence', OPEN, base);
  }

  close(next: string, generation: number): Promise<MarkStatus> {
    return this.#ask('closing the sequence', CLOSE, next, generation);
  }

  adopt(base: number, generation: number): Promise<MarkStatus> {
    return this.#ask('handing the sequence over', ADOPT, base, generation);
  }

  /**
   * Reserves up to `count` keys with milliseconds of at least `above`.
   *
   * @param bounds the milliseconds that no other ring mints; left out, the keys are of the variants for nodes that
   *   are not sure of that
   */
  async mint(count: number, above: number, bounds: Bounds | undefined): Promise<Minted> {
    const { node, ring } = this;
    const lowest = Math.max(above, bounds === undefined ? 0 : bounds.after + 1);
    const sure = bounds === undefined ? ['unsure'] : ['sure', bounds.until];
    const reply = await this.#run('minting keys', MINT, node.index, ring.size, count, lowest, ...sure);
    if (reply[0] !== 'wait' && reply[0] !== 'keys') return { kind: 'refused', status: statusOf(reply) };
    const [from, now, ms, variant, granted, more, first, final] = reply.slice(1).map(Number) as Reserved;
    const proof = { from, now };
    if (reply[0] === 'wait') return { kind: 'wait', ms, proof };
    const span = { first, last: final };
    const last = ms + Math.floor((variant - first + granted - 1) / widthOf(span)) * ring.size;
    this.#seen = Math.max(this.#seen, last);
    return { kind: 'keys', ms, variant, count: granted, more, span, proof };
  }

  async #ask(what: string, script: string, ...args: (string | number)[]): Promise<MarkStatus> {
    return statusOf(await this.#run(what, script, ...args));
  }

  #run(what: string, script: string, ...args: (string | number)[]): Promise<unknown[]> {
    const { fingerprint, nodes, epoch, lead, skew } = this.ring;
    return this.server.run(what, script, fingerprint, nodes, epoch, lead, skew, this.#seen, ...args);
  }
}

type Reserved = [number, number, number, number, number, number, number, number];

function statusOf(reply: unknown[]): MarkStatus {
  const [whose, state, next, nodes, generation, high, lost, ring, now, from] = reply;
  return {
    whose: String(whose) as MarkStatus['whose'],
    state: String(state) as MarkStatus['state'],
    ring: String(ring),
    next: String(next),
    nodes: String(nodes),
    generation: Number(generation),
    high: Number(high),
    from: Number(from),
    lost: Number(lost) === 1,
    now: Number(now),
  };
}
