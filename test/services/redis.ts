import { mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { programsOf } from './binaries.ts';
import { startTogether } from './group.ts';
import { makeFolder } from './guard.ts';
import { type Ports, withFreePorts } from './ports.ts';
import { ask } from './probe.ts';
import { ServerProcess } from './process.ts';

/** How to start a Redis server. */
export interface RedisOptions {
  /** What survives a restart: nothing, which is the default, or every answered write ('aof'). */
  persistence?: 'none' | 'aof';
  /** More arguments for `redis-server`. */
  args?: readonly string[];
}

/** The file in which a cluster node keeps its identity and what it knows of the others. */
export const CLUSTER_FILE = 'nodes.conf';

function isWholeReply(reply: Buffer): boolean {
  if (reply[0] !== '$'.charCodeAt(0)) return reply.includes('\r\n');
  const [header = ''] = reply.toString('latin1').split('\r\n', 1);
  return reply.length === header.length + Number(header.slice(1)) + 4;
}

/** A private Redis server. */
export class RedisServer extends ServerProcess {
  /** Starts the server again; with `empty`, without any of its data (a cluster node stays that node). */
  override async restart({ empty = false } = {}): Promise<void> {
    await this.shutdown();
    if (empty) {
      const files = (await readdir(join(this.dir, 'data'))).filter((file) => file !== CLUSTER_FILE);
      await Promise.all(files.map((file) => rm(join(this.dir, 'data', file), { recursive: true })));
    }
    await this.start();
  }

  /** Sends one command without spaces in its arguments, and returns the text of the reply. */
  async command(...words: (string | number)[]): Promise<string> {
    const reply = (await ask(this.port, `${words.join(' ')}\r\n`, isWholeReply, 20_000)).toString();
    if (reply.startsWith('-')) throw new Error(`${words.join(' ')}: ${reply.slice(1).trimEnd()}`);
    return reply
      .replace(/^\$\d+\r\n/, '')
      .replace(/^[+:]/, '')
      .trimEnd();
  }
}

/** Describes a Redis server in a new folder; `ports` are the one for clients and, in a cluster, the bus. */
export function redisServer(
  program: string,
  ports: Ports,
  { persistence = 'none', args = [] }: RedisOptions,
): RedisServer {
  const dir = makeFolder('redis');
  const data = join(dir, 'data');
  mkdirSync(data);
  const [port] = ports;
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: data,
    save: '',
    appendonly: persistence === 'aof' ? 'yes' : 'no',
    // Handed to the kernel before each answer, so that it survives kill -9 of the server, but not forced to
    // disk; 'everysec' would delay the writes while a slow disk is busy.
    appendfsync: 'no',
    // A new replica gets its data at once; by default the master waits five seconds for more of them.
    'repl-diskless-sync-delay': 0,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return new RedisServer({
    name: 'redis',
    dir,
    ports,
    url: `redis://127.0.0.1:${port}`,
    run: [program, ...options, ...args],
    answers: async () => !(await ask(port, 'PING\r\n', isWholeReply)).toString().startsWith('-LOADING'),
  });
}

/** Starts a private Redis server. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const [program] = await programsOf('redis');
  return withFreePorts(1, async (ports) => {
    const server = redisServer(program, ports, options);
    await startTogether([server]);
    return server;
  });
}
