import { bytesToHex } from '../encoding/hex.js';
import { md5 } from '../encoding/md5.js';
import type { ShardNode, ShardSettings } from './config.js';
import { VARIANTS } from './key.js';
import { ADOPT, CLOSE, LOOK, MINT, OPEN, PREPARE } from './mark-scripts.js';
import type { ShardServer } from './server.js';

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
    // A second, for bursts, and room for one millisecond of every class however many there are.
    lead: 1000 + nodes.length,
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
  /** The mark is gone, or may be older than what was minted. */
  readonly lost: boolean;
  /** The clock of the node, ms since the epoch. */
  readonly now: number;
}

/** What came of asking for keys: a range of them, how long to wait, or a mark with which none can be minted. */
export type Minted =
  | KeyRange
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'refused'; readonly status: MarkStatus };

/** Consecutive keys of one node. */
export interface KeyRange {
  readonly kind: 'keys';
  readonly ms: number;
  readonly variant: number;
  readonly count: number;
  /** How long it takes, ms, until the node would have had all that were asked for. */
  readonly more: number;
}

/** The mark of one node, as the processes of a ring use it. */
export class Mark {
  readonly server: ShardServer;
  readonly ring: Ring;
  /** The last millisecond that this process was given here: a mark before it has been reset. */
  #seen = -1;

  constructor(server: ShardServer, ring: Ring) {
    this.server = server;
    this.ring = ring;
  }

  get node(): ShardNode {
    return this.server.node;
  }

  look(): Promise<MarkStatus> {
    return this.#ask('reading the sequence', LOOK);
  }

  prepare(): Promise<MarkStatus> {
    return this.#ask('setting up the sequence', PREPARE);
  }

  open(): Promise<MarkStatus> {
    return this.#ask('opening the sequence', OPEN);
  }

  close(next: string, generation: number): Promise<MarkStatus> {
    return this.#ask('closing the sequence', CLOSE, next, generation);
  }

  adopt(base: number, generation: number): Promise<MarkStatus> {
    return this.#ask('handing the sequence over', ADOPT, base, generation);
  }

  /** Reserves up to `count` keys with milliseconds of at least `above`. */
  async mint(count: number, above: number): Promise<Minted> {
    const { node, ring } = this;
    const reply = await this.#run('minting keys', MINT, node.index, ring.size, count, above);
    if (reply[0] === 'wait') return { kind: 'wait', ms: Number(reply[1]) };
    if (reply[0] !== 'keys') return { kind: 'refused', status: statusOf(reply) };
    const [ms, variant, granted, more] = reply.slice(1).map(Number) as [number, number, number, number];
    const last = ms + Math.floor((variant + granted - 1) / VARIANTS) * ring.size;
    this.#seen = Math.max(this.#seen, last);
    return { kind: 'keys', ms, variant, count: granted, more };
  }

  async #ask(what: string, script: string, ...args: (string | number)[]): Promise<MarkStatus> {
    return statusOf(await this.#run(what, script, ...args));
  }

  #run(what: string, script: string, ...args: (string | number)[]): Promise<unknown[]> {
    const { fingerprint, nodes, epoch, lead, skew } = this.ring;
    return this.server.run(what, script, fingerprint, nodes, epoch, lead, skew, this.#seen, ...args);
  }
}

function statusOf(reply: unknown[]): MarkStatus {
  const [whose, state, next, nodes, generation, high, lost, ring, now] = reply;
  return {
    whose: String(whose) as MarkStatus['whose'],
    state: String(state) as MarkStatus['state'],
    ring: String(ring),
    next: String(next),
    nodes: String(nodes),
    generation: Number(generation),
    high: Number(high),
    lost: Number(lost) === 1,
    now: Number(now),
  };
}
