import type { NodeConnection } from '../node-connection.js';

/** The data of a node that survives a crash of the node. */
export interface Persistence {
  /** Writes go to an append-only file. */
  readonly hasAof: boolean;
  /** Replicas that are connected and in step. */
  readonly replicas: number;
  /** Nothing survives a crash: no append-only file, no replica, no snapshots. False if the node does not tell. */
  readonly keepsNothing: boolean;
  /** The server can wait until writes are on disk: `WAITAOF`, Redis 7.2 and later, unless `appendfsync` is `no`. */
  readonly canWaitForDisk: boolean;
}

const ASKING = 'asking about persistence';

/** Asks a node what survives a crash. A cluster is as safe as the least safe of its masters. */
export async function readPersistence(node: NodeConnection): Promise<Persistence> {
  const all = await Promise.all((await node.servers()).map(readServer));
  return {
    hasAof: all.every(({ hasAof }) => hasAof),
    replicas: Math.min(...all.map(({ replicas }) => replicas)),
    keepsNothing: all.some(({ keepsNothing }) => keepsNothing),
    canWaitForDisk: all.every(({ canWaitForDisk }) => canWaitForDisk),
  };
}

async function readServer(node: NodeConnection): Promise<Persistence> {
  const [persistence, replication, server, save, appendfsync] = await Promise.all([
    infoOf(node, 'persistence'),
    infoOf(node, 'replication'),
    infoOf(node, 'server'),
    settingOf(node, 'save'),
    settingOf(node, 'appendfsync'),
  ]);
  const hasAof = persistence.get('aof_enabled') === '1';
  const replicas = [...replication].filter(
    ([name, value]) => /^slave\d+$/.test(name) && /\bstate=online\b/.test(value),
  ).length;
  const [major = 0, minor = 0] = (server.get('redis_version') ?? '').split('.').map(Number);
  return {
    hasAof,
    replicas,
    keepsNothing: !hasAof && replicas === 0 && save === '',
    canWaitForDisk: (major > 7 || (major === 7 && minor >= 2)) && appendfsync !== 'no',
  };
}

async function infoOf(node: NodeConnection, section: string): Promise<Map<string, string>> {
  const text = String(await node.command(ASKING, 'INFO', section));
  return new Map(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

/** A setting of a node. `undefined` if the node does not tell, as managed servers do not. */
async function settingOf(node: NodeConnection, name: string): Promise<string | undefined> {
  try {
    const reply = await node.command(ASKING, 'CONFIG', 'GET', name);
    // Pairs come as a list, or as an object where the driver speaks RESP3.
    const pairs = Array.isArray(reply) ? reply.flat() : Object.entries(Object(reply)).flat();
    return pairs[1] === undefined ? undefined : String(pairs[1]);
  } catch {
    return undefined;
  }
}
