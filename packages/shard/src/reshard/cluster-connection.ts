import { type CommandPart, pause, StoreError, systemTimer } from 'idsmith/internal';
import type { ShardNode } from '../config/shard-nodes.js';
import { SLOTS, slotOf, taggedName, tagOfSlot, untaggedName } from '../keys/slots.js';
import type { ShardMap } from '../map/shard-map.js';
import type { ClusterClient } from '../redis/binary-client.js';
import { CLOSE_SLOTS, FIND_SLOTS, OPEN_SLOTS } from '../redis/scripts.js';
import { NodeConnection, TIMEOUT } from './node-connection.js';
import { type RedisKey, redisKeyOf, reservedKeyOf, STATE_KEY } from './redis-keys.js';

/** Errors of a cluster that moves a slot or elects a master. The command was not run. */
const TRANSIENT = /TRYAGAIN|CLUSTERDOWN|Too many Cluster redirections/;

/** The longest time for which such a command is tried again, ms, and the pause between two tries. */
const PATIENCE = 20_000;
const RETRY_INTERVAL = 50;

/** The number of slots that are asked at the same time. */
const SLOTS_AT_ONCE = 512;

/** A node of a cluster, as the others know it. */
interface ClusterMember {
  readonly id: string;
  /** `host:port` */
  readonly address: string;
  readonly isMaster: boolean;
  /** True for the node that was asked. */
  readonly isSelf: boolean;
  /** `0-5460`, or `[93->-id]` for a slot that is moved now. */
  readonly slots: readonly string[];
}

/**
 * A Redis Cluster, as resharding talks to it. The state of the resharding is one key. Each slot has lists of its own, because a
 * script uses keys of one slot only. Keys with a suffix have a hash tag in their names.
 */
export class ClusterConnection extends NodeConnection {
  readonly #map: ShardMap<unknown>;
  readonly #cluster: () => ClusterClient;

  constructor(map: ShardMap<unknown>, node: ShardNode, id: string) {
    let client: ClusterClient | undefined;
    const cluster = () => {
      client ??= map.clusterBytesOf(node, TIMEOUT);
      return client;
    };
    super(map, node, id, cluster);
    this.#map = map;
    this.#cluster = cluster;
  }

  override get isCluster(): boolean {
    return true;
  }

  /** All masters. A driver forgets a master that has just crashed, and its keys must not be overlooked. */
  override async servers(): Promise<readonly NodeConnection[]> {
    return whileTransient(async () => {
      const masters = await this.#cluster().masters();
      const servers = masters.map(
        (master) => new NodeConnection(this.#map, this.node, this.id, () => master),
      );
      const views = await Promise.all(servers.map(membersAt));
      const slots = views.flatMap((members) => slotsOf(members.find(({ isSelf }) => isSelf)?.slots ?? []));
      const seen = new Set(slots);
      const missing = Array.from({ length: SLOTS }, (_, slot) => slot).find((slot) => !seen.has(slot));
      if (missing === undefined) return servers;
      // The driver looks for the master when it has a command for it.
      await super.command('asking all masters', 'EXISTS', reservedKeyOf(STATE_KEY, tagOfSlot(missing)));
      throw new StoreError(
        `node ${this.address}: asking all masters failed: CLUSTERDOWN, slot ${missing} has no master that answers`,
      );
    });
  }

  override async layout(): Promise<string | undefined> {
    const servers = await this.servers();
    const [[members = []], replicationIds] = await Promise.all([
      Promise.all(servers.slice(0, 1).map(membersAt)),
      Promise.all(servers.map((server) => server.layout())),
    ]);
    const masters = members.filter(({ isMaster }) => isMaster);
    const slots = masters.map(({ id, slots: own }) => `${id} ${own.join(' ')}`);
    if (slots.some((text) => text.includes('['))) return undefined;
    return [...slots.sort(), ...replicationIds.sort()].join('\n');
  }

  /** The nodes of the cluster, as one of its masters knows them. */
  async members(): Promise<ClusterMember[]> {
    const [server] = await this.servers();
    return server === undefined ? [] : membersAt(server);
  }

  /** Waits while the cluster moves the slot of the keys, or elects a master. */
  override async run(
    operation: string,
    script: string,
    keys: readonly CommandPart[],
    args: readonly CommandPart[] = [],
  ): Promise<unknown[]> {
    return whileTransient(() => super.run(operation, script, keys, args));
  }

  override async command(operation: string, ...parts: CommandPart[]): Promise<unknown> {
    return whileTransient(() => super.command(operation, ...parts));
  }

  override nameOf(key: RedisKey): RedisKey {
    return taggedName(key);
  }

  override keyOf(name: RedisKey): RedisKey {
    return untaggedName(name);
  }

  override groupsOf(keys: readonly RedisKey[]): RedisKey[][] {
    const groups = new Map<number, RedisKey[]>();
    for (const key of keys) {
      const slot = slotOf(this.nameOf(key));
      const group = groups.get(slot);
      if (group === undefined) groups.set(slot, [key]);
      else group.push(key);
    }
    return [...groups.values()];
  }

  override placeOf(list: string, keys: readonly RedisKey[]): readonly [state: string, list: string] {
    const tag = tagOfSlot(slotOf(this.nameOf(keys[0] as RedisKey)));
    return [reservedKeyOf(STATE_KEY, tag), reservedKeyOf(list, tag)];
  }

  /** A cluster finds the right node, and waits for a slot that moves, only with the keys as arguments. */
  override keyArguments(
    keys: readonly RedisKey[],
  ): readonly [names: readonly RedisKey[], packed: CommandPart] {
    return [keys.map((key) => this.nameOf(key)), ''];
  }

  override async probeKeys(): Promise<readonly string[]> {
    const views = await Promise.all((await this.servers()).map(membersAt));
    return views.flatMap((members) =>
      slotsOf(members.find(({ isSelf }) => isSelf)?.slots ?? [])
        .slice(0, 1)
        .map((slot) => reservedKeyOf('idsmith:reshard:probe', tagOfSlot(slot))),
    );
  }

  override async listedKeys(list: string): Promise<RedisKey[]> {
    const slots: number[] = [];
    const unknown = await this.#together(FIND_SLOTS, list, [], (some, positions) => {
      for (const position of positions) slots.push(some[Number(position) - 1] as number);
    });
    const found: RedisKey[] = [];
    await inGroups([...slots, ...unknown], async (slot) => {
      const name = reservedKeyOf(list, tagOfSlot(slot));
      const names = await this.command('reading leftovers', 'HKEYS', name);
      for (const name of names as Uint8Array[]) found.push(this.keyOf(redisKeyOf(name)));
    });
    return found;
  }

  /** Lets keys go back from all slots. Nothing is brought to a slot any more in this round. */
  async openSlots(reshardId: string, round: number, description: string): Promise<void> {
    const head = [reshardId, round, description];
    const left = await this.#together(OPEN_SLOTS, STATE_KEY, head);
    await inGroups(left, (slot) =>
      this.run('opening a slot', OPEN_SLOTS, [reservedKeyOf(STATE_KEY, tagOfSlot(slot))], head),
    );
  }

  /** Ends what `openSlots` began in this round. */
  async closeSlots(round: number): Promise<void> {
    const left = await this.#together(CLOSE_SLOTS, STATE_KEY, [round]);
    await inGroups(left, (slot) =>
      this.run('closing a slot', CLOSE_SLOTS, [reservedKeyOf(STATE_KEY, tagOfSlot(slot))], [round]),
    );
  }

  /**
   * Runs a script for many slots of each master, without declaring their keys, which saves 16,384 commands.
   *
   * @param key the reserved key that the script uses in each slot. Its names follow `head` in the arguments
   * @param use called with slots and the reply of the script
   * @returns the slots for which this failed: one of them is moved meanwhile, or a server does not allow it
   */
  async #together(
    script: string,
    key: string,
    head: readonly CommandPart[],
    use: (slots: readonly number[], reply: readonly unknown[]) => void = () => {},
  ): Promise<number[]> {
    const left = new Set(Array.from({ length: SLOTS }, (_, slot) => slot));
    await Promise.all(
      (await this.servers()).map(async (server) => {
        const self = (await membersAt(server).catch(() => [])).find(({ isSelf }) => isSelf);
        const own = slotsOf(self?.slots ?? []);
        for (let at = 0; at < own.length; at += SLOTS_AT_ONCE) {
          const some = own.slice(at, at + SLOTS_AT_ONCE);
          const names = some.map((slot) => reservedKeyOf(key, tagOfSlot(slot)));
          const reply = await server
            .run('using slots', script, [], [...head, ...names])
            .catch(() => undefined);
          if (reply === undefined) continue;
          use(some, reply);
          for (const slot of some) left.delete(slot);
        }
      }),
    );
    return [...left];
  }
}

/** Uses slots one by one, some at the same time. */
async function inGroups(slots: readonly number[], use: (slot: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < slots.length; at += SLOTS_AT_ONCE)
    await Promise.all(slots.slice(at, at + SLOTS_AT_ONCE).map(use));
}

/** The nodes of a cluster, as one of them knows them. */
async function membersAt(server: NodeConnection): Promise<ClusterMember[]> {
  const lines = String(await server.command('reading the slots', 'CLUSTER', 'NODES')).split('\n');
  // A line is: id, address, flags, master, ping, pong, epoch, link, slots. `[slot->-id]` is a slot that is moved now.
  return lines
    .map((line) => line.trim().split(' '))
    .filter(({ length }) => length >= 8)
    .map(([id = '', address = '', flags = '', , , , , , ...slots]) => ({
      id,
      address: address.replace(/@.*/, ''),
      isMaster: flags.includes('master'),
      isSelf: flags.includes('myself'),
      slots,
    }));
}

/** The numbers of slots in texts like `0-5460`. */
function slotsOf(texts: readonly string[]): number[] {
  return texts.flatMap((text) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
    if (first === undefined) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
}

async function whileTransient<T>(attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isTransient = error instanceof Error && TRANSIENT.test(error.message);
      if (!isTransient || performance.now() > until) throw error;
    }
    await pause(systemTimer, RETRY_INTERVAL, false);
  }
}
