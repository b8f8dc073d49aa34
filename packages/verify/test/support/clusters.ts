import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { Balancer } from '#services/balancer.ts';
import { startEtcd } from '#services/etcd.ts';
import { startGalera } from '#services/galera.ts';
import { until } from '#services/probe.ts';
import type { ServerProcess } from '#services/process.ts';
import type { RedisServer } from '#services/redis.ts';
import { startRedisCluster } from '#services/redis-cluster.ts';
import { FaultyProxy } from '../../src/proxy/faulty-proxy.ts';
import { CHAOS_NAMESPACE, type TrialStore, TTL } from '../../src/runs/trial-store.ts';

/** What processes open. They read the nodes from the environment. */
const CLUSTER_MODULE = fileURLToPath(new URL('./redis-cluster.mjs', import.meta.url));
/** How long another node may take to become the leader, ms. */
const ELECTION_MS = 60_000;
/** A master that is silent for a second is replaced. */
const FAST_ELECTION = ['--cluster-node-timeout', '1000'];

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
  const galera = await startGalera();
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
        await isolate(node, true);
        await sleep(5 * TTL);
        await isolate(node, false);
        if (!(await until(() => isInCluster(node), { timeoutMs: ELECTION_MS })))
          throw new Error('the node did not join the others again');
      },
    },
    async stop() {
      await proxy.close();
      balancer.close();
      await galera.stop();
    },
  };
}

/** Cuts a node of Galera off from the others, and not from its clients. */
async function isolate({ url }: ServerProcess, isOn: boolean): Promise<void> {
  const connection = await createConnection(url);
  await connection.query(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isOn ? 1 : 0}'`);
  await connection.end();
}

async function isInCluster({ url }: ServerProcess): Promise<boolean> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query("SHOW STATUS LIKE 'wsrep_ready'");
    return (rows as { Value: string }[])[0]?.Value === 'ON';
  } finally {
    await connection.end();
  }
}

async function leads({ url }: ServerProcess): Promise<boolean> {
  const request = { method: 'POST', body: '{}', signal: AbortSignal.timeout(1000) };
  const response = await fetch(`${url}/v3/maintenance/status`, request);
  const { leader, header } = (await response.json()) as { leader: string; header: { member_id: string } };
  return leader === header.member_id;
}

/** Three masters with a replica each. Clients learn the nodes' addresses from the cluster and map them to the proxies. */
export async function startRedisClusterStore(): Promise<TrialStore> {
  const cluster = await startRedisCluster({ masters: 3, replicas: 1, args: FAST_ELECTION });
  const proxies = await Promise.all(cluster.nodes.map(({ port }) => FaultyProxy.before(port)));
  const addresses = proxies.map(({ port }) => ({ host: '127.0.0.1', port }));
  const natMap = Object.fromEntries(
    cluster.nodes.map(({ port }, i) => [`127.0.0.1:${port}`, addresses[i] as object]),
  );
  process.env.CLUSTER = JSON.stringify({ nodes: addresses, natMap, maxTtl: TTL });
  const master = () => findNode(cluster.nodes, keepsNamespace);
  const successor = (old: RedisServer) =>
    findNode(
      cluster.nodes.filter((node) => node !== old),
      keepsNamespace,
    );
  return {
    target: { module: CLUSTER_MODULE },
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
