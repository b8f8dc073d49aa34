import { IdError } from 'idsmith/internal';
import type { ShardNode } from '../config/shard-nodes.js';
import type { ShardMap } from '../map/shard-map.js';
import type { NodeSequence, NodeSequenceStatus } from '../mint/node-sequence.js';
import { READ_NODE_STATUS } from '../redis/scripts.js';
import type { ReshardProgress } from './options.js';
import { STATE_KEY } from './redis-keys.js';

/** The state of one node of a map. */
export type NodeStatus = SilentNode | AnsweringNode;

/** A node that did not answer, or refused. */
export interface SilentNode {
  readonly node: ShardNode;
  /** Names the node and the reason. */
  readonly error: IdError;
}

/** A node that answered. */
export interface AnsweringNode {
  readonly node: ShardNode;
  readonly error: undefined;
  /** The time that the answer took, ms. */
  readonly latency: number;
  /** The clock of the node minus the clock of this process, ms; exact to half of `latency`. */
  readonly clockAhead: number;
  /** The number of Redis keys on the node; `undefined` for a Redis Cluster, and where the user may not ask. */
  readonly keys: number | undefined;
  /**
   * `open`: the node mints keys for this map · `idle`: nobody has minted since the node was started · `reserved`: minting is being handed
   * over to this map · `closed`: minting was handed over to another map · `foreign`: the node mints for another map
   */
  readonly minting: 'open' | 'idle' | 'reserved' | 'closed' | 'foreign';
  /** The last resharding that the node knows of, also after its end. */
  readonly resharding: NodeResharding | undefined;
}

/** A resharding, as a node tells of it. */
export interface NodeResharding {
  /** `moving`: keys go to the new map · `returning`: they go back · `done` and `aborted`: over · the others: about to begin or to stop */
  readonly phase: 'preparing' | 'moving' | 'done' | 'stopping' | 'returning' | 'aborted';
  /** The old nodes and the new ones. */
  readonly about: string;
  /** How far the last run has come, and how long ago it said so, ms; `undefined` before its first batch. */
  readonly progress: (ReshardProgress & { readonly age: number }) | undefined;
}

/**
 * Asks every node of a map for its clock, its keys, whether it mints for the map, and a resharding that it takes part in. The list has
 * the order of the nodes, and tells of nodes that do not answer.
 */
export function nodeStatus(map: ShardMap<unknown>): Promise<NodeStatus[]> {
  // Not in the list of parameters: declarations would show members that are internal.
  const { sequences, isCluster } = map;
  return Promise.all(sequences.map((sequence) => statusOf(sequence, isCluster)));
}

async function statusOf(sequence: NodeSequence, isCluster: boolean): Promise<NodeStatus> {
  const { node, connection } = sequence;
  const [sentAt, began] = [Date.now(), performance.now()];
  try {
    const [status, reply] = await Promise.all([
      sequence.readStatus(),
      connection.run('reading the state', READ_NODE_STATUS, [STATE_KEY], ['', isCluster ? '' : 'count']),
    ]);
    const latency = performance.now() - began;
    const clockAhead = Math.round(status.now + sequence.nodeSet.epoch - (sentAt + Date.now()) / 2);
    const [phase, about, progress, age, keys] = reply;
    return {
      node,
      error: undefined,
      latency,
      clockAhead,
      keys: Number(keys) < 0 ? undefined : Number(keys),
      minting: mintingOf(status),
      resharding: String(phase) === '' ? undefined : reshardingOf(phase, about, progress, age),
    };
  } catch (error) {
    if (error instanceof IdError) return { node, error };
    throw error;
  }
}

function mintingOf({ whose, state, lost }: NodeSequenceStatus): AnsweringNode['minting'] {
  if (whose === 'foreign' || whose === 'misplaced') return 'foreign';
  if (state === 'closed' || state === 'reserved') return state;
  return state === 'open' && !lost ? 'open' : 'idle';
}

function reshardingOf(phase: unknown, about: unknown, progress: unknown, age: unknown): NodeResharding {
  return {
    phase: String(phase) as NodeResharding['phase'],
    about: String(about),
    progress: String(progress) === '' ? undefined : { ...JSON.parse(String(progress)), age: Number(age) },
  };
}
