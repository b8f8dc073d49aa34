import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programsOf } from './binaries.ts';
import { ServerGroup, startTogether } from './group.ts';
import { makeFolder } from './guard.ts';
import { withFreePorts } from './ports.ts';
import { ask, until } from './probe.ts';
import { ServerProcess } from './process.ts';
import { type RedisServer, redisServer } from './redis.ts';

/** The name of the master, as the Sentinels know it. */
const MASTER = 'mymaster';

/** A private master with two replicas, and three Sentinels that watch them. */
export class RedisSentinels extends ServerGroup<ServerProcess> {
  readonly redis: readonly RedisServer[];
  readonly sentinels: readonly ServerProcess[];

  constructor(redis: readonly RedisServer[], sentinels: readonly ServerProcess[]) {
    super([...sentinels, ...redis]);
    this.redis = redis;
    this.sentinels = sentinels;
  }

  /** The URL of a store on the master. */
  get url(): string {
    return `redis+sentinel://${this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER}`;
  }

  /** The server that the Sentinels take for the master now. */
  async master(): Promise<RedisServer> {
    const { port } = this.sentinels[0]!;
    const isWhole = (reply: Buffer) => reply.toString().split('\r\n').length > 5;
    const reply = await ask(port, `SENTINEL get-master-addr-by-name ${MASTER}\r\n`, isWhole, 20_000);
    const found = Number(reply.toString().split('\r\n')[4]);
    return this.redis.find((server) => server.port === found)!;
  }

  /** Sets how long a master may be silent before the Sentinels choose another one, ms. */
  async setPatience(ms: number): Promise<void> {
    for (const { port } of this.sentinels)
      await tell(port, `SENTINEL SET ${MASTER} down-after-milliseconds ${ms}`);
  }

  /** Makes the Sentinels choose another master. Returns what they answer, which may be a refusal. */
  async failover(): Promise<string> {
    return tell(this.sentinels[0]!.port, `SENTINEL FAILOVER ${MASTER}`);
  }
}

const tell = async (port: number, command: string): Promise<string> =>
  (await ask(port, `${command}\r\n`, (reply) => reply.includes('\r\n'), 20_000)).toString();

/** Starts a master, its replicas and their Sentinels, and waits until the Sentinels know all of them. */
export async function startRedisSentinels(): Promise<RedisSentinels> {
  const [program] = await programsOf('redis');
  return withFreePorts(6, async (ports) => {
    const redis = ports
      .slice(0, 3)
      .map((port, i) =>
        redisServer(program, [port], { args: i === 0 ? [] : ['--replicaof', '127.0.0.1', String(ports[0])] }),
      );
    await startTogether(redis);
    const sentinels = ports.slice(3).map((port) => sentinelOf(program, port, ports[0]!));
    await startTogether(sentinels);
    const group = new RedisSentinels(redis, sentinels);
    for (const { port } of sentinels) {
      const isReady = await until(
        async () => {
          const isWhole = (reply: Buffer) => reply.includes('sentinels=');
          const info = (await ask(port, 'INFO sentinel\r\n', isWhole, 20_000)).toString();
          return info.includes('slaves=2,sentinels=3');
        },
        { timeoutMs: 60_000 },
      );
      if (isReady) continue;
      await group.stop();
      throw new Error('the Sentinels never knew each other and the replicas');
    }
    return group;
  });
}

function sentinelOf(program: string, port: number, master: number): ServerProcess {
  const dir = makeFolder('sentinel');
  const config = join(dir, 'sentinel.conf');
  writeFileSync(
    config,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${dir}`,
      `sentinel monitor ${MASTER} 127.0.0.1 ${master} 2`,
      `sentinel down-after-milliseconds ${MASTER} 1000`,
      `sentinel failover-timeout ${MASTER} 5000`,
    ].join('\n'),
  );
  return new ServerProcess({
    name: 'sentinel',
    dir,
    ports: [port],
    url: `redis://127.0.0.1:${port}`,
    run: [program, config, '--sentinel'],
    answers: async () => (await ask(port, 'PING\r\n', (reply) => reply.includes('\r\n'))).includes('PONG'),
  });
}
