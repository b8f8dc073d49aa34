import { programsOf } from './binaries.ts';
import { ServerGroup, startTogether } from './group.ts';
import { withFreePorts } from './ports.ts';
import { until } from './probe.ts';
import { CLUSTER_FILE, type RedisOptions, type RedisServer, redisServer } from './redis.ts';

const SLOTS = 16_384;
const UNITE_MS = 60_000;

/** How to start a Redis Cluster. */
export interface RedisClusterOptions extends RedisOptions {
  /** How many masters share the slots; 3 unless told otherwise, which is also the least Redis takes. */
  masters?: number;
  /** How many replicas each master has; 0 unless told otherwise. */
  replicas?: number;
}

/** A private Redis Cluster. */
export class RedisCluster extends ServerGroup<RedisServer> {
  /** The nodes that began as masters, in the order of their slots. */
  readonly masters: readonly RedisServer[];
  /** The nodes that began as replicas: first those of the first master. */
  readonly replicas: readonly RedisServer[];

  constructor(nodes: readonly RedisServer[], masterCount: number) {
    super(nodes);
    this.masters = nodes.slice(0, masterCount);
    this.replicas = nodes.slice(masterCount);
  }
}

/** Starts a private Redis Cluster and waits until all its nodes agree. */
export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 0, persistence = 'none', args = [] } = options;
  const [program] = await programsOf('redis');
  const size = masters * (1 + replicas);
  return withFreePorts(2 * size, async (ports) => {
    const nodes = Array.from({ length: size }, (_, index) => {
      const port = ports[2 * index]!;
      const bus = ports[2 * index + 1]!;
      const clusterArgs = ['--cluster-enabled', 'yes', '--cluster-config-file', CLUSTER_FILE];
      const timing = ['--cluster-port', String(bus), '--cluster-node-timeout', '2000'];
      return redisServer(program, [port, bus], { persistence, args: [...clusterArgs, ...timing, ...args] });
    });
    await startTogether(nodes);
    const cluster = new RedisCluster(nodes, masters);
    try {
      await unite(cluster, ports);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  });
}

// What `redis-cli --cluster create` does, without its pauses.
async function unite({ nodes, masters, replicas }: RedisCluster, ports: readonly number[]): Promise<void> {
  const [first, ...others] = nodes as [RedisServer, ...RedisServer[]];
  for (const [index, master] of masters.entries()) {
    const from = Math.floor((index * SLOTS) / masters.length);
    const to = Math.floor(((index + 1) * SLOTS) / masters.length) - 1;
    await master.command('CLUSTER', 'ADDSLOTSRANGE', from, to);
    await master.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const other of others) await other.command('CLUSTER', 'MEET', '127.0.0.1', first.port, ports[1]!);
  await everyNode(nodes, 'knows all the others', async (node) =>
    (await node.command('CLUSTER', 'INFO')).includes(`cluster_known_nodes:${nodes.length}`),
  );
  const perMaster = replicas.length / masters.length;
  for (const [index, replica] of replicas.entries()) {
    const id = await masters[Math.floor(index / perMaster)]!.command('CLUSTER', 'MYID');
    await replica.command('CLUSTER', 'REPLICATE', id);
  }
  await everyNode(replicas, 'follows its master', async (node) =>
    (await node.command('INFO', 'replication')).includes('master_link_status:up'),
  );
  await everyNode(nodes, 'sees all slots served and all replicas in place', async (node) => {
    const info = await node.command('CLUSTER', 'INFO');
    const seenReplicas = (await node.command('CLUSTER', 'NODES')).match(/ (myself,)?slave /g) ?? [];
    return info.includes('cluster_state:ok') && seenReplicas.length === replicas.length;
  });
}

async function everyNode(
  nodes: readonly RedisServer[],
  what: string,
  condition: (node: RedisServer) => Promise<boolean>,
): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      if (await until(() => condition(node), { timeoutMs: UNITE_MS })) return;
      throw new Error(`redis cluster: node ${node.port} never ${what}. The end of its log:\n${node.log()}`);
    }),
  );
}
