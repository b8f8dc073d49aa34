import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { Cluster, Redis } from 'ioredis';
import type { Ledger } from './ledger.js';
import { OPTIONS, type RedisNode, type RedisNodes, ringOf } from './redis-nodes.js';

/** The servers of a resharding with faults, and the part that each of them plays. */
export interface FaultField {
  readonly configs: readonly [ShardConfig, ShardConfig];
  /** A new config that somebody takes for the right one. */
  readonly wrongConfig: ShardConfig;
  /** All servers with append-only files. */
  readonly servers: readonly RedisNode[];
  /** The server that comes back with older data, or without any, and its name. */
  readonly crashing: RedisNode;
  readonly crashingName: string;
  /** The new owner that is full for a while. */
  readonly filled: RedisNode;
  /** The old owner that is lost for good. */
  readonly leaving: RedisNode;
  /** The servers that only the old map has. */
  readonly oldOnly: readonly RedisNode[];
  /** Tells whether the crashing server owns a key in the new map. */
  isCrashingOwner(key: string): boolean;
  /** Does something else that may happen at any time. */
  disturb(): Promise<void>;
  /** Checks every key on every server that is alive: its value, and that it is at its new owner only. */
  verify(ledger: Ledger, alive: readonly RedisNode[]): Promise<void>;
}

/** Four of six servers, and five of them with other weights. */
export class RingField implements FaultField {
  readonly configs: readonly [ShardConfig, ShardConfig];
  readonly servers: readonly RedisNode[];
  readonly #to: ShardMap;

  constructor(servers: readonly RedisNode[]) {
    this.servers = servers;
    // The last old node leaves, so that it may be lost.
    const next = [0, 1, 2, 4, 5].map((i) => servers[i] as RedisNode);
    this.configs = [
      { ...ringOf(servers.slice(0, 4), [1, 2, 1, 3]), options: OPTIONS },
      { ...ringOf(next, [3, 1, 2, 4, 1]), options: OPTIONS },
    ];
    this.#to = new ShardMap(this.configs[1]);
  }

  get wrongConfig(): ShardConfig {
    return { ...this.configs[0], ...ringOf([...this.servers].reverse(), [1, 4, 2, 1, 1, 2]) };
  }

  get crashing(): RedisNode {
    return this.servers[1] as RedisNode;
  }

  get crashingName(): string {
    return `127.0.0.1:${this.crashing.port}`;
  }

  get filled(): RedisNode {
    return this.servers[4] as RedisNode;
  }

  get leaving(): RedisNode {
    return this.servers[3] as RedisNode;
  }

  get oldOnly(): readonly RedisNode[] {
    return [this.leaving];
  }

  isCrashingOwner(key: string): boolean {
    return this.#to.ownerOf(key).port === this.crashing.port;
  }

  async disturb(): Promise<void> {}

  async verify(ledger: Ledger, alive: readonly RedisNode[]): Promise<void> {
    for (const { port } of alive)
      await onServer(port, async (client) => {
        const values = await client.mget(ledger.keys as string[]);
        for (const [i, key] of ledger.keys.entries()) {
          const value = values[i] as string | null;
          if (this.#to.ownerOf(key).port === port) ledger.check(key, value, 'in the end');
          else if (value !== null) ledger.problems.push(`${key} is on ${port}, too: ${value}`);
        }
        await reportLists(client, port, ledger);
      });
  }
}

/** A ring of three servers, and a Redis Cluster that moves its slots now and then. */
export class ClusterField implements FaultField {
  readonly configs: readonly [ShardConfig, ShardConfig];
  readonly servers: readonly RedisNode[];
  readonly #ring: readonly RedisNode[];
  readonly #cluster: RedisNodes;
  /** The number of slots that went from the first master to the second one. */
  #movedSlots = 0;

  constructor(ring: readonly RedisNode[], cluster: RedisNodes) {
    this.#ring = ring;
    this.#cluster = cluster;
    this.servers = [...ring, ...cluster.masters];
    this.configs = [
      { ...ringOf(ring, [1, 2, 1]), options: OPTIONS },
      { cluster: { nodes: cluster.nodes.map(({ url }) => url) }, hashTags: true, options: OPTIONS },
    ];
  }

  get wrongConfig(): ShardConfig {
    return { ...this.configs[0], ...ringOf(this.#ring.slice(0, 2)) };
  }

  get crashing(): RedisNode {
    return this.#ring[1] as RedisNode;
  }

  get crashingName(): string {
    return `127.0.0.1:${this.crashing.port}`;
  }

  get filled(): RedisNode {
    return this.#cluster.masters[2] as RedisNode;
  }

  get leaving(): RedisNode {
    return this.#ring[2] as RedisNode;
  }

  get oldOnly(): readonly RedisNode[] {
    return this.#ring;
  }

  isCrashingOwner(): boolean {
    return false;
  }

  /** Moves some slots with their keys. */
  async disturb(): Promise<void> {
    const [first, second, third] = this.#cluster.masters as [RedisNode, RedisNode, RedisNode];
    const slots = Array.from({ length: 20 }, (_, i) => (this.#movedSlots + i) % 5000);
    if (this.#movedSlots + slots.length > 5000) return;
    this.#movedSlots += slots.length;
    await moveSlots(first, second, slots, [third]);
  }

  async verify(ledger: Ledger, alive: readonly RedisNode[]): Promise<void> {
    const cluster = new Cluster(this.#cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    await Promise.all(
      ledger.keys.map(async (key) => ledger.check(key, await cluster.get(key), 'in the end')),
    );
    cluster.disconnect();
    for (const { port } of alive)
      await onServer(port, async (client) => {
        await reportLists(client, port, ledger);
        if (this.#cluster.masters.some((master) => master.port === port)) return;
        const names = new Set(ledger.keys);
        for (const key of await client.keys('*'))
          if (names.has(key)) ledger.problems.push(`${key} is on ${port}, too`);
      });
  }
}

async function onServer(port: number, use: (client: Redis) => Promise<void>): Promise<void> {
  const client = new Redis(port);
  await use(client).finally(() => client.disconnect());
}

/** Lists of movers, and hashes of slots, must be gone after the end. */
async function reportLists(client: Redis, port: number, { problems }: Ledger): Promise<void> {
  for (const name of await client.keys('idsmith:reshard:*')) problems.push(`${name} is left on ${port}`);
}

/** Moves slots with their keys from one master of a Redis Cluster to another, as `redis-cli --cluster reshard` does. */
export async function moveSlots(
  source: Pick<RedisNode, 'port'>,
  target: Pick<RedisNode, 'port'>,
  slots: readonly number[],
  others: readonly Pick<RedisNode, 'port'>[],
): Promise<number> {
  const [from, to, ...rest] = [source, target, ...others].map(({ port }) => new Redis(port)) as [
    Redis,
    Redis,
    ...Redis[],
  ];
  let moved = 0;
  try {
    const [fromId, toId] = await Promise.all([from.call('CLUSTER', 'MYID'), to.call('CLUSTER', 'MYID')]);
    for (const slot of slots) {
      await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
      await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
      for (;;) {
        const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)) as string[];
        if (keys.length === 0) break;
        await from.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', ...keys);
        moved += keys.length;
      }
      for (const client of [to, from, ...rest])
        await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
    }
  } finally {
    for (const client of [from, to, ...rest]) client.disconnect();
  }
  return moved;
}
