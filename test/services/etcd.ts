import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programsOf } from './binaries.ts';
import { ServerGroup, startTogether } from './group.ts';
import { makeFolder } from './guard.ts';
import { withFreePorts } from './ports.ts';
import { ServerProcess } from './process.ts';

/** How to start etcd. */
export interface EtcdOptions {
  /** One node, which is the default, or a cluster of three, which survives the loss of one. */
  nodes?: 1 | 3;
  /** More arguments for `etcd`. */
  args?: readonly string[];
}

/** A private etcd, of one node or more. */
export class Etcd extends ServerGroup<ServerProcess> {
  /** The clients' addresses, one for each node. */
  get endpoints(): string[] {
    return this.nodes.map((node) => node.url);
  }

  /** Saves a snapshot of a single node, as an operator does. Returns its file. */
  async snapshot(): Promise<string> {
    const [node] = this.nodes as [ServerProcess];
    const file = join(node.dir, `snapshot-${process.hrtime.bigint()}`);
    await etcdctl(`--endpoints=${node.url}`, 'snapshot', 'save', file);
    return file;
  }

  /** Ends a single node, and starts it again with a snapshot. */
  async restore(snapshot: string): Promise<void> {
    const [node] = this.nodes as [ServerProcess];
    const response = await fetch(`${node.url}/v3/cluster/member/list`, { method: 'POST', body: '{}' });
    const { members } = (await response.json()) as { members: [{ name: string; peerURLs: [string] }] };
    const [{ name, peerURLs }] = members;
    await node.kill();
    await rm(join(node.dir, 'data'), { recursive: true });
    const member = [`--name=${name}`, `--initial-cluster=${name}=${peerURLs[0]}`];
    const address = `--initial-advertise-peer-urls=${peerURLs[0]}`;
    const data = `--data-dir=${join(node.dir, 'data')}`;
    await etcdctl('snapshot', 'restore', snapshot, data, ...member, address);
    await node.start();
  }

  /** Ends all of them for good and removes their folders. */
  override async stop(): Promise<void> {
    // Asked politely and all at once, the leader waits seven seconds for another node to take over.
    await Promise.all(this.nodes.map((node) => node.kill()));
    await super.stop();
  }
}

async function etcdctl(...args: string[]): Promise<void> {
  const [program] = await programsOf('etcdctl');
  await promisify(execFile)(program, args, { env: { ...process.env, ETCDCTL_API: '3' } });
}

/** Starts a private etcd and waits until every node has a leader and answers. */
export async function startEtcd({ nodes: size = 1, args = [] }: EtcdOptions = {}): Promise<Etcd> {
  const [program] = await programsOf('etcd');
  return withFreePorts(2 * size, async (ports) => {
    const members = Array.from({ length: size }, (_, index) => ({
      name: `node${index}`,
      port: ports[2 * index]!,
      peerPort: ports[2 * index + 1]!,
    }));
    const cluster = members.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join(',');
    const nodes = members.map((member) => etcdServer(program, member, cluster, args));
    await startTogether(nodes);
    return new Etcd(nodes);
  });
}

function etcdServer(
  program: string,
  { name, port, peerPort }: { name: string; port: number; peerPort: number },
  cluster: string,
  args: readonly string[],
): ServerProcess {
  const dir = makeFolder('etcd');
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const settings = {
    name,
    'data-dir': join(dir, 'data'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': cluster,
    logger: 'zap',
  };
  const options = Object.entries(settings).map(([option, value]) => `--${option}=${value}`);
  return new ServerProcess({
    name: 'etcd',
    dir,
    ports: [port, peerPort],
    url,
    // A write reaches the kernel, so that it survives kill -9 of the server, but not yet the disk.
    run: [program, ...options, '--unsafe-no-fsync', ...args],
    // etcd 3.4 refuses to run on arm64 unless it is told that this is known.
    env: { ETCD_UNSUPPORTED_ARCH: process.arch },
    answers: () => isHealthy(url),
  });
}

async function isHealthy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) });
  const { health } = (await response.json()) as { health?: string };
  return health === 'true';
}
