import { InvalidOptionError } from '../../errors.js';
import { textClient } from '../../redis/client.js';
import { SingleFlight } from '../../support/single-flight.js';
import { withTimeout } from '../../support/timeout.js';
import type { RedisDriver } from './drivers.js';
import { beginConnection, CONNECT_TIMEOUT, nodeRedis, ioredis as singleIoredis } from './drivers.js';
import type { Connection } from './own-client.js';

// Servers that stand for one another: a Redis Cluster, and the master and replicas that Sentinels watch. After any failure that is not an
// answer of a server, the connections count as lost. The next call then asks the group who serves now.

/** The address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where to reach the servers of a group, by the `host:port` that the group names for each of them. Servers that are missing are reached there. */
export type NatMap = Readonly<Record<string, Address>>;

/** The servers that a URL names, and the way to them. */
export interface RedisGroup {
  readonly kind: 'cluster' | 'sentinel';
  readonly hosts: readonly Address[];
  readonly username: string;
  readonly password: string;
  readonly isEncrypted: boolean;
  /** The name of the master, as the Sentinels know it; empty for a Cluster. */
  readonly master: string;
  readonly database: number;
  readonly natMap: NatMap;
}

interface Begun {
  readonly ready: Promise<unknown>;
  readonly connection: Connection;
}

/** Starts the connections to a group. */
export const beginGroup = (driver: RedisDriver, group: RedisGroup): Begun =>
  group.kind === 'cluster' ? beginCluster(driver, group) : beginSentinel(driver, group);

const hostText = (host: string) => (host.includes(':') ? `[${host}]` : host);

/** The URL of one server of the group. */
function urlOf({ isEncrypted, username, password }: RedisGroup, host: string, port: number): string {
  const login = [username, password].map(encodeURIComponent).join(':');
  return `redis${isEncrypted ? 's' : ''}://${login === ':' ? '' : `${login}@`}${hostText(host)}:${port}`;
}

/** True for an answer of a server: its connection is well. Both drivers name such errors so. */
const isAnswer = (error: unknown) =>
  /ReplyError|ErrorReply|SimpleError/.test(String((error as Error)?.constructor?.name));

/** Answers of a server that is not, or not now, the one to ask. */
const NOT_HERE = /^(READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|UNBLOCKED)|not a master/i;

/** A client of a whole Cluster, and how its driver deals with it. */
interface Driven {
  readonly client: unknown;
  connect(): Promise<unknown>;
  /** Lets the process end while connections are idle. */
  unref(): void;
  end(): void;
}

/** The wait for all nodes of a Cluster, ms. Shorter than that of a connection, so that there is time to find out what is wrong. */
const CLUSTER_TIMEOUT = 3500;

function beginCluster(driver: RedisDriver, group: RedisGroup): Begun {
  const driven = driver.name === 'redis' ? redisCluster(driver, group) : ioredisCluster(driver, group);
  const { evaluate } = textClient(driven.client);
  let isUp = true;
  const end = () => {
    isUp = false;
    driven.end();
  };
  const ready = async () => {
    await withTimeout(driven.connect(), CLUSTER_TIMEOUT).catch(async (error: unknown) => {
      throw await clusterProblem(driver, group, error);
    });
    driven.unref();
  };
  return {
    ready: ready(),
    connection: {
      async evaluate(...call) {
        try {
          return await evaluate(...call);
        } catch (error) {
          if (!isAnswer(error) || NOT_HERE.test((error as Error).message)) end();
          throw error;
        } finally {
          // The client may have connected to other nodes.
          driven.unref();
        }
      },
      get isUp() {
        return isUp;
      },
      end,
    },
  };
}

function redisCluster({ redis }: RedisDriver & { name: 'redis' }, group: RedisGroup): Driven {
  const { username, password, isEncrypted } = group;
  const client = redis.createCluster({
    // Redis 5 knows no other protocol.
    RESP: 2,
    rootNodes: group.hosts.map(({ host, port }) => ({ url: urlOf(group, host, port) })),
    nodeAddressMap: { ...group.natMap },
    defaults: {
      ...(username !== '' && { username }),
      ...(password !== '' && { password }),
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_TIMEOUT,
        reconnectStrategy: false,
        ...(isEncrypted && { tls: true as const }),
      },
    },
  });
  // Errors surface from the failing call. Without a listener they would end the process.
  client.on('error', () => {});
  return {
    client,
    connect: () => client.connect(),
    unref: () => {
      for (const node of client.masters) (node.client as { unref?(): void } | undefined)?.unref?.();
    },
    end: () => {
      if (client.isOpen) client.destroy();
    },
  };
}

function ioredisCluster({ ioredis }: RedisDriver & { name: 'ioredis' }, group: RedisGroup): Driven {
  const { username, password, isEncrypted } = group;
  const client = new ioredis.Cluster([...group.hosts], {
    lazyConnect: true,
    natMap: { ...group.natMap },
    clusterRetryStrategy: () => null,
    redisOptions: {
      ...(username !== '' && { username }),
      ...(password !== '' && { password }),
      ...(isEncrypted && { tls: {} }),
      connectTimeout: CONNECT_TIMEOUT,
      autoResendUnfulfilledCommands: false,
    },
  });
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  client.on('node error', (error) => {
    reason = error;
  });
  return {
    client,
    connect: () =>
      client.connect().catch((error: unknown) => {
        throw reason ?? error;
      }),
    unref: () => {
      for (const node of client.nodes('all')) (node.stream as { unref?(): void } | undefined)?.unref?.();
    },
    end: () => client.disconnect(),
  };
}

/** The reason why a client cannot connect to a Cluster. Drivers tell only that no node is of use. */
async function clusterProblem(driver: RedisDriver, group: RedisGroup, error: unknown): Promise<unknown> {
  try {
    const info = await askHosts(driver, group, async (send, at) => {
      const text = await send('CLUSTER', 'INFO').catch((refusal) => {
        throw NO_CLUSTER.test(refusal?.message) ? noCluster(at) : refusal;
      });
      return String(text);
    });
    if (!info.includes('cluster_state:fail')) return error;
    return new Error('CLUSTERDOWN masters of the Cluster are down, and not all slots are served', {
      cause: error,
    });
  } catch (reason) {
    return reason;
  }
}

/** Answers to `CLUSTER` of a single server, and of a Sentinel. */
const NO_CLUSTER = /cluster support disabled|unknown command/i;

const noCluster = ({ host, port }: Address) =>
  new InvalidOptionError(
    `the server at ${host}:${port} is no node of a Redis Cluster (cluster-enabled): for a single server, the URL begins with redis://, and for ` +
      'Sentinels with redis+sentinel://',
  );

/** The time for which the word of the Sentinels counts, ms, and the longest wait for it. */
const WORD_LIFE = 1000;

/** The pause before Sentinels that did not answer in time are asked again, ms. */
const SILENCE = 10_000;

function beginSentinel(driver: RedisDriver, group: RedisGroup): Begun {
  let master: Connection | undefined;
  let address: Address;
  let isEnded = false;
  let askAt = 0;
  const asking = new SingleFlight<void>();

  /**
   * Asks the Sentinels again, once a second at most. When they choose another master, the old one goes on as a master for some seconds, and what
   * it acknowledges then is lost.
   */
  async function requireChosen(): Promise<void> {
    if (performance.now() < askAt) return;
    await asking.run(async () => {
      const chosen = await withTimeout(masterOf(driver, group), WORD_LIFE).catch(() => undefined);
      askAt = performance.now() + (chosen ? WORD_LIFE : SILENCE);
      if (chosen === undefined || (chosen.host === address.host && chosen.port === address.port)) return;
      master?.end();
      throw new Error(`the Sentinels have chosen another master, at ${chosen.host}:${chosen.port}`);
    });
  }

  const ready = async () => {
    address = await masterOf(driver, group);
    askAt = performance.now() + WORD_LIFE;
    const { host, port } = address;
    const begun = beginConnection(driver, { url: urlOf(group, host, port), database: group.database });
    master = begun.connection;
    await begun.ready;
    if (isEnded) master.end();
  };
  return {
    ready: ready(),
    connection: {
      async evaluate(...call) {
        await requireChosen();
        try {
          return await (master as Connection).evaluate(...call);
        } catch (error) {
          // A master that was replaced goes on as a replica.
          if (NOT_HERE.test((error as Error)?.message)) master?.end();
          throw error;
        }
      },
      get isUp() {
        return !isEnded && master?.isUp === true;
      },
      end() {
        isEnded = true;
        master?.end();
      },
    },
  };
}

/**
 * The address of the master, by the first Sentinel that knows it.
 *
 * @throws InvalidOptionError when the Sentinels that answer do not know the name
 */
async function masterOf(driver: RedisDriver, group: RedisGroup): Promise<Address> {
  const master = await askHosts(driver, group, async (send, { host, port }) => {
    const answer = await send('SENTINEL', 'get-master-addr-by-name', group.master).catch((error) => {
      if (!/unknown command/i.test(error?.message)) throw error;
      throw new InvalidOptionError(
        `the server at ${host}:${port} is no Sentinel: the hosts of a redis+sentinel:// URL are Sentinels, not the servers that they watch. For a ` +
          'single server, the URL begins with redis://, and for a Cluster with redis+cluster://',
      );
    });
    if (Array.isArray(answer)) return { host: String(answer[0]), port: Number(answer[1]) };
    throw new InvalidOptionError(
      `the Sentinel at ${host}:${port} knows no master ${JSON.stringify(group.master)}: the path of the URL must be the name that ` +
        'its configuration has after "sentinel monitor"',
    );
  });
  return group.natMap[`${master.host}:${master.port}`] ?? master;
}

/** All servers of a group, as the first of its hosts that answers names them. */
export function serversOf(driver: RedisDriver, group: RedisGroup): Promise<Address[]> {
  return askHosts(driver, group, async (send) => {
    // Clients use the addresses of the slots. A replica that has got nothing yet is missing there.
    if (group.kind === 'cluster')
      return unique([
        ...slotServers(await send('CLUSTER', 'SLOTS')),
        ...nodeServers(await send('CLUSTER', 'NODES')),
      ]);
    const replicas = (await send('SENTINEL', 'replicas', group.master)) as readonly (readonly unknown[])[];
    return [await masterOf(driver, group), ...replicas.map(flatAddress)];
  });
}

const unique = (servers: readonly Address[]): Address[] => [
  ...new Map(servers.map((server) => [`${server.host}:${server.port}`, server])).values(),
];

/** The servers of an answer to `CLUSTER SLOTS`: each entry is a range of slots, and the servers that have it. */
const slotServers = (answer: unknown): Address[] =>
  (answer as readonly (readonly unknown[])[]).flatMap(([, , ...nodes]) =>
    (nodes as readonly unknown[][]).map(([host, port]) => ({ host: String(host), port: Number(port) })),
  );

/** The servers of an answer to `CLUSTER NODES`, with a line for each: `id 10.0.0.1:7000@17000,name flags …`. Some have no address. */
function nodeServers(answer: unknown): Address[] {
  return String(answer)
    .split('\n')
    .flatMap((line) => {
      const [, host = '', port = ''] = /^\w+ (.+):([1-9]\d*)@/.exec(line) ?? [];
      return host === '' ? [] : [{ host, port: Number(port) }];
    });
}

/** The address in a list of names and values by turns. */
function flatAddress(fields: readonly unknown[]): Address {
  const field = (name: string) => fields[fields.indexOf(name) + 1];
  return { host: String(field('ip')), port: Number(field('port')) };
}

/** Asks one host of a URL after the other, until one of them answers. @throws what is wrong with a host, if none does */
async function askHosts<T>(
  driver: RedisDriver,
  group: RedisGroup,
  ask: (send: (...parts: string[]) => Promise<unknown>, at: Address) => Promise<T>,
): Promise<T> {
  let failure: unknown;
  for (const at of group.hosts) {
    // Sentinels have logins of their own. Those of the URL are for the master.
    const login = group.kind === 'sentinel' ? { ...group, username: '', password: '' } : group;
    const url = urlOf(login, at.host, at.port);
    const host = driver.name === 'redis' ? nodeRedis(driver, url) : singleIoredis(driver, url);
    try {
      await host.connect();
      return await ask(host.send, at);
    } catch (error) {
      failure = error instanceof InvalidOptionError ? error : (failure ?? error);
    } finally {
      host.end();
    }
  }
  throw failure;
}
