import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder, removeFolder, spawnGuarded } from './guard.ts';
import { until } from './probe.ts';
import { killTree } from './process-tree.mjs';

const run = promisify(execFile);

// Machines of a small network, each a network namespace of the kernel, with cables to a switch. Nothing of it is in the network of this machine, and
// no namespace has a name: with the last process in them, they are gone.

/** Makes the switch and the machines, and stays as long as they shall. Arguments: the number of machines, and what stands before the last part of their addresses. */
const SCRIPT = `set -e
ip link set lo up
ip link add switch type bridge
ip link set switch up
for n in $(seq 1 "$0"); do
  unshare -n sleep 2147483647 &
  while [ "$(readlink /proc/$!/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
  ip link add "cable$n" type veth peer name eth0 netns $!
  ip link set "cable$n" master switch up
  nsenter -t $! -n sh -ec "ip link set lo up; ip address add $1.$n/24 dev eth0; ip link set eth0 up"
  echo $! >> machines
done
touch ready
wait`;

/** What stands before the last part of the addresses. Other networks may have the same ones. */
const ADDRESSES = '10.77.0';

const READY_MS = 20_000;

/** A few machines that reach each other, and nobody else. */
export class Networks {
  readonly #switch: ChildProcess;
  readonly #dir: string;
  /** A process in the namespace of each machine. */
  readonly #machines: readonly number[];

  private constructor(hub: ChildProcess, dir: string, machines: readonly number[]) {
    this.#switch = hub;
    this.#dir = dir;
    this.#machines = machines;
  }

  /** @throws Error when the kernel, or the rights of this process, do not allow it */
  static async open(count: number): Promise<Networks> {
    const dir = makeFolder('networks');
    const [logFile, stopSignal] = [join(dir, 'log'), 'SIGTERM'] as const;
    const args = ['-n', 'sh', '-c', SCRIPT, String(count), ADDRESSES];
    const hub = spawnGuarded({ dir, command: 'unshare', args, stopSignal, logFile });
    const isReady = async () => existsSync(join(dir, 'ready'));
    if (!(await until(isReady, { timeoutMs: READY_MS, whileTrue: () => hub.exitCode === null }))) {
      const log = readFileSync(logFile, 'utf8').trim();
      if (hub.exitCode === null) await killTree(hub.pid as number);
      await removeFolder(dir);
      throw new Error(`no network namespaces: ${log || 'they took too long'}`);
    }
    hub.unref();
    const machines = readFileSync(join(dir, 'machines'), 'utf8').trim().split('\n').map(Number);
    return new Networks(hub, dir, machines);
  }

  addressOf(machine: number): string {
    return `${ADDRESSES}.${machine + 1}`;
  }

  /** The namespace of a machine, as `nsenter` takes it. */
  namespaceOf(machine: number): string {
    return `/proc/${this.#machines[machine]}/ns/net`;
  }

  /** Takes the cable of a machine down, or up again. Packets vanish, and nobody is told. */
  async setCable(machine: number, state: 'down' | 'up'): Promise<void> {
    const inside = ['-t', String(this.#switch.pid), '-n', 'ip', 'link', 'set', `cable${machine + 1}`, state];
    await run('nsenter', inside);
  }

  async close(): Promise<void> {
    if (this.#switch.pid !== undefined) await killTree(this.#switch.pid);
    await removeFolder(this.#dir);
  }
}

/** A port of this machine that leads to a socket in the file system, which a server in another network has open. */
export class SocketPort {
  readonly #listener: Server;
  readonly #clients = new Set<Socket>();

  private constructor(listener: Server) {
    this.#listener = listener;
  }

  static async open(port: number, path: string): Promise<SocketPort> {
    const listener = createServer();
    const made = new SocketPort(listener);
    listener.on('connection', (client) => made.#lead(client, path));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(port, '127.0.0.1', resolve);
    });
    listener.unref();
    return made;
  }

  close(): void {
    this.#listener.close();
    for (const client of this.#clients) client.destroy();
  }

  #lead(client: Socket, path: string): void {
    const server = dial(path);
    this.#clients.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => {
      this.#clients.delete(client);
      server.destroy();
    });
    server.on('error', () => client.destroy());
    server.on('close', () => client.destroy());
    client.pipe(server).pipe(client);
  }
}
