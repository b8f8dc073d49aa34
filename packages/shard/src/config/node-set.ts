import { bytesToHex, md5 } from 'idsmith/internal';
import type { ShardSettings } from './config.js';
import type { ShardNode } from './shard-nodes.js';

/**
 * The longest time that a node may mint ahead of its clock, ms: enough for bursts. The value is the same for all node sets,
 * because a node that has lost its sequence does not know which node set minted there before.
 */
const LEAD = 1000;

/** A set of nodes that mint together. Each node mints its own class of milliseconds. */
export interface NodeSet {
  /** The same for all processes with the same ring names in the same order, the same epoch and the same `maxSkew`. */
  readonly fingerprint: string;
  /** The ring names of the nodes, for people. */
  readonly nodes: string;
  readonly size: number;
  /**
   * A node has another address than its ring name. The fingerprint then does not tell which server is which node, so every
   * server checks its own index.
   */
  readonly hasMovedNodes: boolean;
  /** The Redis key of every node's sequence. Not part of the fingerprint. */
  readonly seqname: string;
  readonly epoch: number;
  /** The longest time that a node may mint ahead of its clock, ms. */
  readonly lead: number;
  readonly skew: number;
  /** Processes of the node set mint only after a handover to it. Not part of the fingerprint. */
  readonly takesOver: boolean;
}

/** The node set of a config. */
export function nodeSetOf({ nodes, seqname, epoch, maxSkew, takesOver }: ShardSettings): NodeSet {
  const names = nodes.map(({ ringName }) => ringName);
  const identity = JSON.stringify([epoch, maxSkew, ...names]);
  return {
    fingerprint: bytesToHex(md5(new TextEncoder().encode(identity))),
    nodes: describeNodes(nodes),
    size: nodes.length,
    hasMovedNodes: nodes.some(({ address, ringName }) => address !== ringName),
    seqname,
    epoch,
    lead: LEAD,
    skew: maxSkew,
    takesOver,
  };
}

function describeNodes(nodes: readonly ShardNode[]): string {
  const names = nodes.map(({ ringName }) => ringName).join(', ');
  return names.length > 200 ? `${names.slice(0, 197)}... (${nodes.length} nodes)` : names;
}
