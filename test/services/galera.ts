import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { programsOf } from './binaries.ts';
import { printOnce } from './describe-with.ts';
import { ServerGroup } from './group.ts';
import { mariadbServer } from './mariadb.ts';
import { Networks, SocketPort } from './networks.ts';
import { withFreePorts } from './ports.ts';
import { until } from './probe.ts';
import type { ServerProcess } from './process.ts';

/** The ports of a node: for clients, for the group, and for the data that a node gets when it joins, in part or as a whole. */
const PORTS = 4;
const NODES = [0, 1, 2] as const;
/** How long a node may take to join the others again, ms. */
const JOIN_MS = 60_000;

/** How to start a Galera cluster. */
export interface GaleraOptions {
  /** True for nodes that are to be cut off from each other: each has a network of its own, where the kernel and our rights allow it. */
  separable?: boolean;
}

/** A private cluster of MariaDB nodes with Galera. Every node takes reads and writes. */
export class Galera extends ServerGroup<ServerProcess> {
  readonly #networks: Networks | undefined;
  readonly #doors: readonly SocketPort[];

  constructor(nodes: readonly ServerProcess[], networks?: Networks, doors: readonly SocketPort[] = []) {
    super(nodes);
    this.#networks = networks;
    this.#doors = doors;
  }

  /** How {@link cutOff} does it: packets vanish, or the node itself leaves out all that the others send. */
  get partition(): 'network namespaces' | 'gmcast.isolate' {
    return this.#networks ? 'network namespaces' : 'gmcast.isolate';
  }

  /** Cuts a node off from the others, and not from its clients. */
  async cutOff(node: ServerProcess): Promise<void> {
    if (this.#networks) await this.#networks.setCable(this.nodes.indexOf(node), 'down');
    else await setVariable(node, "wsrep_provider_options = 'gmcast.isolate=1'");
  }

  /** Ends {@link cutOff}, and waits until the node is one of the group. */
  async rejoin(node: ServerProcess): Promise<void> {
    if (this.#networks) await this.#networks.setCable(this.nodes.indexOf(node), 'up');
    else await setVariable(node, "wsrep_provider_options = 'gmcast.isolate=0'");
    if (await until(() => this.isInMajority(node), { timeoutMs: JOIN_MS })) return;
    throw new Error(`the node did not join the others again. The end of its log:\n${node.log()}`);
  }

  /** True if a node takes statements. */
  async isInMajority({ url }: ServerProcess): Promise<boolean> {
    const connection = await createConnection(url);
    try {
      const [rows] = await connection.query("SHOW STATUS LIKE 'wsrep_ready'");
      return (rows as { Value: string }[])[0]?.Value === 'ON';
    } finally {
      await connection.end();
    }
  }

  override async stop(): Promise<void> {
    await super.stop();
    for (const door of this.#doors) door.close();
    await this.#networks?.close();
  }
}

async function setVariable({ url }: ServerProcess, assignment: string): Promise<void> {
  const connection = await createConnection(url);
  await connection.query(`SET GLOBAL ${assignment}`);
  await connection.end();
}

/** Starts a Galera cluster of three nodes. Each can be killed and restarted; it then joins the others. */
export async function startGalera({ separable = false }: GaleraOptions = {}): Promise<Galera> {
  const programs = await programsOf('mariadb');
  const [library] = await programsOf('galera');
  return withFreePorts(NODES.length * PORTS, async (ports) => {
    const networks = separable ? await networksIfAllowed() : undefined;
    const portsOf = (n: number) =>
      ports.slice(n * PORTS, (n + 1) * PORTS) as [number, number, number, number];
    const addressOf = (n: number) => networks?.addressOf(n) ?? '127.0.0.1';
    const members = NODES.map((n) => `${addressOf(n)}:${portsOf(n)[1]}`).join(',');
    const nodes = NODES.map((n) => {
      const [client, group, part, whole] = portsOf(n);
      const provider = {
        'gmcast.listen_addr': `tcp://${addressOf(n)}:${group}`,
        'ist.recv_addr': `${addressOf(n)}:${part}`,
        'gcache.size': '16M',
      };
      const args = [
        '--binlog-format=ROW',
        '--innodb-autoinc-lock-mode=2',
        // As most have it: what a node loses in a crash, it gets from the others.
        '--innodb-flush-log-at-trx-commit=2',
        '--wsrep-on=ON',
        `--wsrep-provider=${library}`,
        '--wsrep-cluster-name=ids',
        `--wsrep-cluster-address=gcomm://${members}`,
        `--wsrep-node-address=${addressOf(n)}`,
        `--wsrep-provider-options=${Object.entries(provider)
          .map((pair) => pair.join('='))
          .join(';')}`,
        '--wsrep-sst-method=rsync',
        `--wsrep-sst-receive-address=${addressOf(n)}:${whole}`,
      ];
      const options = { args, ...(networks && { network: networks.namespaceOf(n) }) };
      return mariadbServer(programs, [client, group, part, whole], options, (run, dir) =>
        // The first node begins a cluster, once. When it comes back, it joins like the others.
        n > 0 ? run : ['sh', '-c', FIRST, `${dir}/tmp-begun`, ...run],
      );
    });
    const doors: SocketPort[] = [];
    const cluster = new Galera(nodes, networks, doors);
    try {
      // The ports of a node are those of its own network. A server's socket is a file, which every network has.
      if (networks)
        for (const { port, dir } of nodes) doors.push(await SocketPort.open(port, join(dir, 'socket')));
      // One after the other: a node gets its data from one that is there.
      for (const node of nodes) await node.start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  });
}

/** Networks for the nodes. Where they are not allowed, a line says what is done instead. */
async function networksIfAllowed(): Promise<Networks | undefined> {
  try {
    const networks = await Networks.open(NODES.length);
    printOnce('Galera: nodes are cut off by network namespaces');
    return networks;
  } catch (error) {
    printOnce(`Galera: nodes are cut off by gmcast.isolate. ${(error as Error).message}`);
    return undefined;
  }
}

const FIRST = 'if [ -e "$0" ]; then exec "$@"; else touch "$0"; exec "$@" --wsrep-new-cluster; fi';
