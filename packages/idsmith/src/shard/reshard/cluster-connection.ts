import type { CommandPart } from '../../redis/client.js';
import { type ClusterClient, clusterClient } from '../../redis/cluster-client.js';
import { pause, systemTimer } from '../../support/timer.js';
import { SLOTS, slotOf, tagOfSlot } from '../cluster/slots.js';
import { taggedName, untaggedName } from '../cluster/tagged-name.js';
import type { ShardMap } from '../shard-map.js';
import type { ShardNode } from '../shard-nodes.js';
import { NodeConnection, type ScriptArguments } from './node-connection.js';
import { type RedisKey, redisKeyOf } from './redis-key.js';
import { reservedKeyOf, STATE_KEY } from './reserved-keys.js';

/** Errors of a cluster that moves a slot or elects a master. The command was not run. */
const TRANSIENT = /TRYAGAIN|CLUSTERDOWN|Too many Cluster redirections/;

/** The longest time for which such a command is tried again, ms, and the pause between two tries. */
const PATIENCE = 20_000;
const RETRY_INTERVAL = 50;

/** The number of slots that are asked at the same time. */
const SLOTS_AT_ONCE = 512;

/**
 * A Redis Cluster, as resharding talks to it. The state of the resharding is one key. Each slot has lists of its own, because a
 * script uses keys of one slot only. Keys with a suffix have a hash tag in their names.
 */
export class ClusterConnection extends NodeConnection {
  readonly #map: ShardMap<unknown>;
  readonly #cluster: () => ClusterClient;

  constructor(map: ShardMap<unknown>, node: ShardNode) {
    let client: ClusterClient | undefined;
    const cluster = () => {
      client ??= clusterClient(map.clientOf(node));
      return client;
    };
    super(map, node, cluster);
    this.#map = map;
    this.#cluster = cluster;
  }

  override get isCluster(): boolean {
    return true;
  }

  override async servers(): Promise<readonly NodeConnection[]> {
    const masters = await this.#cluster().masters();
    return masters.map((master) => new NodeConnection(this.#map, this.node, () => master));
  }

  override async layout(): Promise<string | undefined> {
    const [server] = await this.servers();
    const lines = String(await server?.command('reading the slots', 'CLUSTER', 'NODES')).split('\n');
    // A line is: id, address, flags, master, ping, pong, epoch, link, slots. `[slot->-id]` is a slot that is moved now.
    const masters = lines.map((line) => line.split(' ')).filter(([, , flags]) => flags?.includes('master'));
    const slots = masters.map(([id, , , , , , , , ...own]) => `${id} ${own.join(' ')}`);
    return slots.some((text) => text.includes('[')) ? undefined : slots.sort().join('\n');
  }

  /** Waits while the cluster moves the slot of the keys, or elects a master. */
  override async run(
    operation: string,
    script: string,
    keys: readonly CommandPart[],
    args: ScriptArguments = [],
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

  override async listedKeys(list: string): Promise<RedisKey[]> {
    const found: RedisKey[] = [];
    await this.#eachSlot(async (tag) => {
      const names = await this.command('reading leftovers', 'HKEYS', reservedKeyOf(list, tag));
      for (const name of names as Uint8Array[]) found.push(this.keyOf(redisKeyOf(name)));
    });
    return found;
  }

  /** Lets keys go back from all slots. Nothing is brought to a slot any more. */
  async openSlots(fields: Readonly<Record<string, CommandPart>>): Promise<void> {
    await this.#eachSlot((tag) =>
      this.command(
        ...(['opening a slot', 'HSET', reservedKeyOf(STATE_KEY, tag)] as const),
        ...Object.entries(fields).flat(),
      ),
    );
  }

  /** Ends what `openSlots` began. */
  async closeSlots(): Promise<void> {
    await this.#eachSlot((tag) => this.command('closing a slot', 'DEL', reservedKeyOf(STATE_KEY, tag)));
  }

  async #eachSlot(use: (tag: string) => Promise<unknown>): Promise<void> {
    for (let first = 0; first < SLOTS; first += SLOTS_AT_ONCE)
      await Promise.all(Array.from({ length: SLOTS_AT_ONCE }, (_, i) => use(tagOfSlot(first + i))));
  }
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
