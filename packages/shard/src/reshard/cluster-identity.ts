import type { ClusterConnection } from './cluster-connection.js';
import { MismatchError } from './compare-states.js';
import type { ReshardContext } from './context.js';
import { type NodeState, readState } from './node-state.js';
import { STATE_KEY } from './redis-keys.js';

/** The field of the state that tells clusters apart: the identity on old owners, and its `id` in the cluster itself. */
const FIELD = 'cluster';

const IDENTIFYING = 'telling clusters apart';

/** A Redis Cluster, as the old owners of a resharding remember it. */
interface ClusterIdentity {
  /** A name of our own, which the cluster keeps in its state. */
  readonly id: string;
  /** The ids of the nodes. They stay in a failover, and when a master loses its data. */
  readonly nodes: readonly string[];
  /** The addresses of the masters, for people. */
  readonly masters: readonly string[];
}

/** Phases in which keys are in the cluster, or may be. */
const BEGUN = ['moving', 'done', 'stopping', 'returning'];

/**
 * Checks that keys go to the cluster with which the resharding began. A cluster that has lost its state is known by its nodes.
 *
 * @throws MismatchError naming both clusters
 */
export async function requireSameCluster(
  context: ReshardContext,
  states: readonly NodeState[],
): Promise<void> {
  const cluster = clusterOf(context);
  const recorded = states.find(
    ({ address, phase, cluster: text }) =>
      address !== cluster?.address && text !== '' && BEGUN.includes(phase),
  );
  if (cluster === undefined || recorded === undefined) return;
  const own =
    states.find(({ address }) => address === cluster.address) ??
    (await readState(cluster, context.reshardId));
  const { id, nodes, masters } = JSON.parse(recorded.cluster) as ClusterIdentity;
  if (own.cluster === id) return;
  const present = await cluster.members();
  if (own.cluster === '' && present.some((member) => nodes.includes(member.id))) return;
  throw new MismatchError(
    `node ${cluster.address}: the resharding ${context.description} has begun with the Redis Cluster of ${masters.join(', ')}, and this is ` +
      `the one of ${mastersOf(present).join(', ')}. Nothing was changed. Use the config of the first one`,
  );
}

/** Gives the cluster of a resharding its identity, and lets all old owners remember it. */
export async function recordCluster(context: ReshardContext): Promise<void> {
  const cluster = clusterOf(context);
  if (cluster === undefined) return;
  await cluster.command(IDENTIFYING, 'HSETNX', STATE_KEY, FIELD, crypto.randomUUID());
  const [id] = (await cluster.command(IDENTIFYING, 'HMGET', STATE_KEY, FIELD)) as unknown[];
  const present = await cluster.members();
  const identity: ClusterIdentity = {
    id: String(id),
    nodes: present.map((member) => member.id),
    masters: mastersOf(present),
  };
  const text = JSON.stringify(identity);
  const owners = context.nodes.filter(({ isCluster }) => !isCluster);
  await Promise.all(owners.map((node) => node.command(IDENTIFYING, 'HSET', STATE_KEY, FIELD, text)));
}

function clusterOf({ nodes }: ReshardContext): ClusterConnection | undefined {
  return nodes.find(({ isCluster }) => isCluster) as ClusterConnection | undefined;
}

function mastersOf(members: Awaited<ReturnType<ClusterConnection['members']>>): string[] {
  return members.filter(({ isMaster }) => isMaster).map(({ address }) => address);
}
