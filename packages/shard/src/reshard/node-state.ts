import { READ_STATE } from '../redis/scripts.js';
import type { ReshardContext } from './context.js';
import type { NodeConnection } from './node-connection.js';
import { STATE_KEY } from './redis-keys.js';

/**
 * The phase of a resharding on one node. `other` stands for another resharding that is not finished, and `mismatch` for one
 * that has left keys where the old map of this one does not look for them.
 */
export type ReshardPhase =
  | 'before'
  | 'preparing'
  | 'moving'
  | 'done'
  | 'stopping'
  | 'returning'
  | 'aborted'
  | 'other'
  | 'mismatch';

/** The numbers of the latest PUT and the latest DROP on a node. */
export interface StepNumbers {
  readonly puts: number;
  readonly drops: number;
}

/** Everything that one node knows of resharding. */
export interface NodeState extends StepNumbers {
  /** The address and the identity of the node. */
  readonly address: string;
  readonly id: string;
  readonly phase: ReshardPhase;
  /** The stored resharding, for people. */
  readonly about: string;
  /** True if the state was written, or compared with other nodes, since the server last started. */
  readonly isChecked: boolean;
  /** The replication id of the server. Redis takes another one at each start and failover. */
  readonly server: string;
  readonly round: number;
  /** The round of the last resharding with other maps that has ended on the node and left keys where this one begins; 0 for none. */
  readonly endedRound: number;
  /** The settings of the resharding, as JSON; empty before it begins. */
  readonly settings: string;
  /** The identity of the Redis Cluster that keys go to; empty if there is none. */
  readonly cluster: string;
  /** The identities of nodes that are lost for good. */
  readonly gone: readonly string[];
  /** The steps on other nodes that this node knows of, by identity. */
  readonly notes: ReadonlyMap<string, StepNumbers>;
}

/** Reads the state of one node. */
export async function readState(node: NodeConnection, reshardId: string): Promise<NodeState> {
  const reply = await node.run('reading the state of resharding', READ_STATE, [STATE_KEY], [reshardId]);
  return nodeStateOf(node, reply);
}

/**
 * Reads the states of all nodes that are not gone, in the order of the nodes. Learns from them which nodes are gone.
 *
 * @throws StoreError naming a node that does not answer
 */
export async function readStates(context: ReshardContext): Promise<NodeState[]> {
  const { nodes, reshardId, gone } = context;
  const answers = await Promise.allSettled(nodes.map((node) => readState(node, reshardId)));
  const states = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  for (const state of states) context.addGone(state.gone);
  for (const [i, answer] of answers.entries())
    if (answer.status === 'rejected' && !gone.has(nodes[i]?.address ?? '')) throw answer.reason;
  return states.filter(({ address }) => !gone.has(address));
}

function nodeStateOf(
  { address, id }: NodeConnection,
  [phase, about, isChecked, server, flat]: readonly unknown[],
): NodeState {
  const fields = new Map<string, string>();
  const list = flat as readonly unknown[];
  for (let i = 0; i < list.length; i += 2) fields.set(String(list[i]), String(list[i + 1]));
  const isOurs = !['before', 'other', 'mismatch'].includes(String(phase));
  const hasEnded = String(phase) === 'before' && ['done', 'aborted'].includes(fields.get('phase') ?? '');
  const number = (field: string) => (isOurs ? Number(fields.get(field) ?? 0) : 0);
  const notes = new Map<string, StepNumbers>();
  for (const field of fields.keys()) {
    const other = /^(?:put|drop):(.*)$/s.exec(field)?.[1];
    if (other !== undefined)
      notes.set(other, { puts: number(`put:${other}`), drops: number(`drop:${other}`) });
  }
  return {
    address,
    id,
    phase: String(phase) as ReshardPhase,
    about: String(about),
    isChecked: Number(isChecked) === 1,
    server: String(server),
    round: Number(fields.get('round') ?? 0),
    endedRound: Number(fields.get(hasEnded ? 'round' : 'ended') ?? 0),
    settings: isOurs ? (fields.get('settings') ?? '') : '',
    cluster: fields.get('cluster') ?? '',
    gone: isOurs ? (JSON.parse(fields.get('gone') ?? '[]') as string[]) : [],
    notes,
    puts: number('puts'),
    drops: number('drops'),
  };
}
