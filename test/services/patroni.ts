import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Balancer } from './balancer.ts';
import { programsOf } from './binaries.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { ServerGroup } from './group.ts';
import { makeFolder } from './guard.ts';
import { withFreePorts } from './ports.ts';
import { postgresTool } from './postgres.ts';
import { ServerProcess } from './process.ts';
import { killTree, processTree } from './process-tree.mjs';
import { unprivilegedUser } from './run-as.ts';

/** How to start a cluster. */
export interface PatroniOptions {
  /** True lets a commit wait for a standby, and only that one may be promoted. Default false. */
  readonly synchronous?: boolean;
}

/** The settings of the cluster, seconds. Patroni allows no shorter ones. */
const TIMES = { ttl: 20, loop_wait: 1, retry_timeout: 3 };

/** One Patroni and the PostgreSQL server that it keeps. */
export class PatroniNode extends ServerProcess {
  readonly name: string;
  readonly restPort: number;
  readonly #data: string;

  constructor(name: string, restPort: number, spec: ConstructorParameters<typeof ServerProcess>[0]) {
    super(spec);
    this.name = name;
    this.restPort = restPort;
    this.#data = join(spec.dir, 'data');
  }

  /** Tells whether Patroni takes its server for the primary. A Patroni that does not answer does not. */
  isPrimary(): Promise<boolean> {
    return answersAt(this.restPort, 'primary');
  }

  /** Ends Patroni and PostgreSQL with SIGKILL, like the loss of the machine. */
  override async kill(): Promise<void> {
    const postmaster = this.postmaster;
    await Promise.all([super.kill(), postmaster && killTree(postmaster)]);
  }

  /** The process id of the PostgreSQL server, which is no child of Patroni. */
  get postmaster(): number | undefined {
    const file = join(this.#data, 'postmaster.pid');
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
  }

  /** Stops what sends changes to the standbys. Everything that is acknowledged from now on is lost if the server is killed. */
  stopSending(): void {
    const { postmaster } = this;
    for (const pid of postmaster === undefined ? [] : processTree(postmaster))
      if (commandOf(pid).includes('walsender')) process.kill(pid, 'SIGSTOP');
  }

  /** Stops Patroni and not PostgreSQL, as on a machine without memory. */
  freezePatroni(): void {
    process.kill(this.pid as number, 'SIGSTOP');
  }

  thawPatroni(): void {
    process.kill(this.pid as number, 'SIGCONT');
  }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
};

/** A private cluster: three PostgreSQL servers, their Patronis, one etcd, and a proxy that leads clients to the primary. */
export class Patroni extends ServerGroup<PatroniNode> {
  readonly #etcd: Etcd;
  #balancer: Balancer | undefined;
  #chosen: PatroniNode | undefined;
  #isStopped = false;

  constructor(nodes: readonly PatroniNode[], etcd: Etcd) {
    super(nodes);
    this.#etcd = etcd;
  }

  /** Leads clients to the primary, as people let HAProxy do: asks the Patronis, and ends connections to all other servers. */
  async lead(): Promise<void> {
    const balancer = await Balancer.open(() => this.#chosen);
    this.#balancer = balancer;
    const look = async () => {
      const answers = await Promise.all(this.nodes.map((node) => node.isPrimary()));
      const found = this.nodes.filter((_, i) => answers[i]);
      // The one in use comes first, until it says itself that it is not the primary.
      this.#chosen = found.find((node) => node === this.#chosen) ?? found[0];
      balancer.keepOnly(this.#chosen);
      await sleep(250);
    };
    const follow = async () => {
      while (!this.#isStopped) await look();
    };
    while (this.#chosen === undefined) await look();
    void follow();
  }

  /** The URL of the primary, whichever it is. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#balancer?.port}/postgres`;
  }

  async primary(): Promise<PatroniNode> {
    for (;;) {
      for (const node of this.nodes) if (await node.isPrimary()) return node;
      await sleep(200);
    }
  }

  /** Waits until there is a primary other than `before`. */
  async otherPrimary(before: PatroniNode): Promise<PatroniNode> {
    for (;;) {
      const found = await this.primary();
      if (found !== before) return found;
      await sleep(200);
    }
  }

  /** Hands over in an orderly way, as `patronictl switchover` does. Returns the answer of Patroni. */
  async switchover(): Promise<string> {
    const leader = await this.primary();
    const response = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: leader.name }),
    });
    return `${response.status} ${await response.text()}`;
  }

  override async stop(): Promise<void> {
    this.#isStopped = true;
    this.#balancer?.close();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await super.stop();
    await this.#etcd.stop();
  }
}

/** Starts a cluster, and waits until it has a primary and two standbys that follow it. */
export async function startPatroni(options: PatroniOptions = {}): Promise<Patroni> {
  const [patroni] = await programsOf('patroni');
  const etcd = await startEtcd();
  const binaries = dirname(await postgresTool('postgres'));
  const nodes = await withFreePorts(6, async (ports) =>
    [0, 1, 2].map((n) =>
      patroniNode(patroni, n, ports[2 * n]!, ports[2 * n + 1]!, { etcd, binaries, options }),
    ),
  );
  const cluster = new Patroni(nodes, etcd);
  try {
    // One after the other: the first makes the database, and the others copy it.
    for (const node of nodes) await node.start();
    await cluster.lead();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

function patroniNode(
  program: string,
  n: number,
  port: number,
  restPort: number,
  { etcd, binaries, options }: { etcd: Etcd; binaries: string; options: PatroniOptions },
): PatroniNode {
  const user = unprivilegedUser('postgres');
  const dir = makeFolder('patroni', user);
  const name = `node${n}`;
  const config = {
    scope: 'ids',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: etcd.endpoints.map((url) => new URL(url).host) },
    bootstrap: {
      dcs: {
        ...TIMES,
        // Any standby may follow, however far it is behind: the loss is what is tried.
        maximum_lag_on_failover: 2 ** 30,
        synchronous_mode: options.synchronous ?? false,
        postgresql: { use_pg_rewind: true, parameters: { fsync: 'off', max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }, 'no-sync'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(dir, 'data'),
      bin_dir: binaries,
      pgpass: join(dir, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      parameters: { unix_socket_directories: dir, dynamic_shared_memory_type: 'mmap' },
    },
  };
  // YAML is a superset of JSON.
  writeFileSync(join(dir, 'patroni.yml'), JSON.stringify(config));
  return new PatroniNode(name, restPort, {
    name: 'patroni',
    dir,
    ports: [port, restPort],
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    run: [program, join(dir, 'patroni.yml')],
    user,
    answers: () => answersAt(restPort, 'health'),
  });
}

/** Asks a Patroni whether its server is in a state. */
async function answersAt(restPort: number, state: 'primary' | 'health'): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${restPort}/${state}`, {
      signal: AbortSignal.timeout(1000),
    });
    return response.status === 200;
  } catch {
    return false;
  }
}
