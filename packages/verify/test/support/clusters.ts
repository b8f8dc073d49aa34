import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Balancer } from '#services/balancer.ts';
import { startEtcd } from '#services/etcd.ts';
import { startGalera } from '#services/galera.ts';
import { until } from '#services/probe.ts';
import type { ServerProcess } from '#services/process.ts';
import type { RedisServer } from '#services/redis.ts';
import { startRedisCluster } from '#services/redis-cluster.ts';
import { startRedisSentinels } from '#services/redis-sentinel.ts';
import { FaultyProxy } from '../../src/proxy/faulty-proxy.ts';
import { CHAOS_NAMESPACE, type TrialStore, TTL } from '../../src/runs/trial-store.ts';
import { type Route, routeOf } from '../../src/target.ts';
import type { WorkerProcesses } from '../../src/workers/worker-processes.ts';

/** What processes open. They read the nodes from the environment. */
const CLUSTER_MODULE = fileURLToPath(new URL('./redis-cluster.mjs', import.meta.url));
/** How long another node may take to become the leader, ms. */
const ELECTION_MS = 60_000;
/** A master that is silent for a second is replaced. */
const FAST_ELECTION = ['--cluster-node-timeout', '1000'];
/** The time whose writes are lost when a replica that has lost its master takes its place, ms: longer than a lease. */
const LOST = 1.5 * TTL;
/** The longest wait for windows that a new master may have forgotten, ms. */
const WAIT_MS = 60_000;
/**
 * The longest ttl of processes with a URL of a group, ms. A process whose Sentinels do not answer goes on with its master for ten seconds, and an old one
 * that wakes up acknowledges for a while: harmless for as long as this is above the ttl, and for twice the skew of clocks.
 */
const GROUP_MAX_TTL = TTL + 15_000;

/** Three nodes of etcd, each behind a proxy; there is always one that leads. */
export async function startEtcdCluster(): Promise<TrialStore> {
  const etcd = await startEtcd({ nodes: 3 });
  const proxies = await Promise.all(etcd.nodes.map(({ port }) => FaultyProxy.before(port)));
  const leader = () => findNode(etcd.nodes, leads);
  return {
    target: { url: `etcd://${proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')}` },
    proxies,
    faults: {
      'leader killed': async () => {
        const node = await leader();
        await node.kill();
        await sleep(1500);
        await node.start();
      },
      'leader paused': async () => {
        const node = await leader();
        node.pause();
        await sleep(2000);
        node.resume();
      },
      'all nodes crashed': async () => {
        await Promise.all(etcd.nodes.map((node) => node.kill()));
        await Promise.all(etcd.nodes.map((node) => node.start()));
      },
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await etcd.stop();
    },
  };
}

/** Three nodes of Galera, all of which take writes. Each connection leads to another one. */
export async function startGaleraStore(): Promise<TrialStore> {
  const galera = await startGalera({ separable: true });
  let turn = 0;
  const balancer = await Balancer.open(() => {
    const running = galera.nodes.filter(({ pid }) => pid !== undefined);
    return running[turn++ % running.length];
  });
  const proxy = await FaultyProxy.before(balancer.port);
  const any = () => galera.nodes[turn % galera.nodes.length]!;
  return {
    target: { url: any().url.replace(/:\d+(?=\/)/, `:${proxy.port}`) },
    proxies: [proxy],
    faults: {
      'node killed': async () => {
        const node = any();
        await node.kill();
        await sleep(1500);
        await node.start();
      },
      'node paused': async () => {
        const node = any();
        node.pause();
        await sleep(3 * TTL);
        node.resume();
      },
      'node cut off from the others': async () => {
        const node = any();
        await galera.cutOff(node);
        await sleep(5 * TTL);
        await galera.rejoin(node);
      },
    },
    async stop() {
      await proxy.close();
      balancer.close();
      await galera.stop();
    },
  };
}

async function leads({ url }: ServerProcess): Promise<boolean> {
  const request = { method: 'POST', body: '{}', signal: AbortSignal.timeout(1000) };
  const response = await fetch(`${url}/v3/maintenance/status`, request);
  const { leader, header } = (await response.json()) as { leader: string; header: { member_id: string } };
  return leader === header.member_id;
}

/**
 * Three masters with a replica each. Clients learn the nodes' addresses from the cluster and map them to the proxies.
 *
 * @param isByUrl true for a store of a URL, false for one on a client that the user has made
 */
export async function startRedisClusterStore(isByUrl: boolean): Promise<TrialStore> {
  const cluster = await startRedisCluster({ masters: 3, replicas: 1, args: FAST_ELECTION });
  const url = `redis+cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?maxTtl=${GROUP_MAX_TTL}`;
  const { places, through } = (await routeOf(url)) as Route;
  const proxies = await Promise.all(places.map((place) => FaultyProxy.before(place)));
  const nodes = proxies.map(({ place }) => place);
  const byUrl = through(nodes);
  process.env.CLUSTER = JSON.stringify({ nodes, natMap: byUrl.natMap, maxTtl: TTL });
  const master = () => findNode(cluster.nodes, keepsNamespace);
  const successor = (old: RedisServer) =>
    findNode(
      cluster.nodes.filter((node) => node !== old),
      keepsNamespace,
    );
  return {
    target: isByUrl ? byUrl : { module: CLUSTER_MODULE },
    proxies,
    faults: {
      'master killed': async () => {
        const node = await master();
        await node.kill();
        await successor(node);
        await node.start();
        await isReplica(node);
      },
      'master paused': async () => {
        const node = await master();
        node.pause();
        await successor(node);
        node.resume();
        await isReplica(node);
      },
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await cluster.stop();
    },
  };
}

/** A master with two replicas and three Sentinels. Clients reach each of them through a proxy; servers and Sentinels reach each other directly. */
export async function startSentinelStore(): Promise<TrialStore> {
  const group = await startRedisSentinels();
  const { places, through } = (await routeOf(`${group.url}?maxTtl=${GROUP_MAX_TTL}`)) as Route;
  const proxies = await Promise.all(places.map((place) => FaultyProxy.before(place)));
  const replicasOf = (master: RedisServer) => group.redis.filter((server) => server !== master);
  /** Waits until another server is the master, lets the old one come back, and waits until it follows and processes mint again. */
  const replaced = async (
    workers: WorkerProcesses,
    old: RedisServer,
    comeBack: () => Promise<void> | void = () => {},
  ) => {
    const isChosen = async () => (await group.master()) !== old;
    if (!(await until(isChosen, { timeoutMs: ELECTION_MS })))
      throw new Error('the Sentinels chose no other master');
    await comeBack();
    const master = await group.master();
    await Promise.all(replicasOf(master).map(isReplica));
    await workers.untilMinting(1, WAIT_MS);
  };
  return {
    target: through(proxies.map(({ place }) => place)),
    proxies,
    faults: {
      'master killed': async (workers) => {
        const old = await group.master();
        await old.kill();
        await replaced(workers, old, () => old.start());
      },
      'master paused': async (workers) => {
        const old = await group.master();
        old.pause();
        await replaced(workers, old, () => old.resume());
      },
      'master handed over': async (workers) => {
        const old = await group.master();
        if (
          !(await until(async () => (await group.failover()).startsWith('+OK'), { timeoutMs: ELECTION_MS }))
        )
          throw new Error('the Sentinels refused to choose another master');
        await replaced(workers, old);
      },
      'master lost with its last writes': async (workers) => {
        const old = await group.master();
        const replicas = replicasOf(old);
        const login = (user: string, password: string) =>
          Promise.all(
            replicas.map(async (replica) => {
              await replica.command('CONFIG', 'SET', 'masteruser', user);
              await replica.command('CONFIG', 'SET', 'masterauth', password);
            }),
          );
        // The Sentinels and the clients see nothing of it.
        await login('nobody', 'wrong');
        await old.command('CLIENT', 'KILL', 'TYPE', 'replica');
        await sleep(LOST);
        await old.kill();
        await login('""', '""');
        await replaced(workers, old, () => old.start());
      },
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await group.stop();
    },
  };
}

/** Whether a node serves the slot of the namespace; others answer with the one that does. */
async function keepsNamespace(node: RedisServer): Promise<boolean> {
  const isMaster = (await node.command('INFO', 'replication')).includes('role:master');
  const key = `idsmith:lease:{${CHAOS_NAMESPACE}}`;
  return isMaster && /^[01]$/.test(await node.command('EXISTS', key));
}

/** A replica that has caught up: only then may its master be lost. */
async function isReplica(node: RedisServer): Promise<void> {
  const isSynced = async () => (await node.command('INFO', 'replication')).includes('master_link_status:up');
  if (!(await until(isSynced, { timeoutMs: ELECTION_MS })))
    throw new Error('the old master did not come back');
}

async function findNode<Node extends ServerProcess>(
  nodes: readonly Node[],
  condition: (node: Node) => Promise<boolean>,
): Promise<Node> {
  let found: Node | undefined;
  const search = async () => {
    const answers = await Promise.all(nodes.map((node) => condition(node).catch(() => false)));
    found = nodes[answers.indexOf(true)];
    return found !== undefined;
  };
  if (await until(search, { timeoutMs: ELECTION_MS })) return found as Node;
  throw new Error(`none of the nodes ${nodes.map(({ port }) => port)} leads`);
}
