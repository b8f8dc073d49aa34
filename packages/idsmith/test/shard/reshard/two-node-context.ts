import { ShardMap } from 'idsmith/shard';
import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '../../../../../test/services/index.ts';
import { type OwnerChange, ReshardContext } from '../../../src/shard/reshard/context.ts';
import { type AfterStep, KeyMover } from '../../../src/shard/reshard/move/key-mover.ts';
import { beginReshard } from '../../../src/shard/reshard/move/phase.ts';
import { entriesOf, README_OPTIONS } from '../start-shards.ts';

/** An old node and a new one: every key goes from the one to the other. */
export class TwoNodeReshard {
  readonly servers: readonly [RedisServer, RedisServer];
  readonly from: ShardMap;
  readonly to: ShardMap;
  readonly context: ReshardContext;
  readonly change: OwnerChange;
  /** Plain clients, as an application with only the old or only the new config has them. */
  readonly old: Redis;
  readonly next: Redis;

  constructor(servers: readonly [RedisServer, RedisServer]) {
    this.servers = servers;
    const options = { ...README_OPTIONS, maxSkew: 50 };
    this.from = new ShardMap({ shards: entriesOf([servers[0]]), options });
    this.to = new ShardMap({ shards: entriesOf([servers[1]]), options });
    this.context = new ReshardContext(this.from, this.to);
    this.change = this.context.ownerChangeOf('any') as OwnerChange;
    this.old = new Redis(servers[0].port);
    this.next = new Redis(servers[1].port);
  }

  static async start(): Promise<TwoNodeReshard> {
    return new TwoNodeReshard([await startRedis(), await startRedis()]);
  }

  /** Empties both, and lets keys be moved. */
  async beginReshard(): Promise<void> {
    await Promise.all([this.old.flushall(), this.next.flushall()]);
    await beginReshard(this.context, undefined);
  }

  mover(afterStep?: AfterStep): KeyMover {
    return new KeyMover(this.context.reshardId, afterStep);
  }

  /** What a node has of a key and what is on its lists. */
  async whereabouts(key: string): Promise<{ old: string | null; next: string | null; lists: number }> {
    const lists = await Promise.all(
      [this.old, this.next].flatMap((client) => [
        client.hlen('idsmith:reshard:in'),
        client.hlen('idsmith:reshard:out'),
      ]),
    );
    return {
      old: await this.old.get(key),
      next: await this.next.get(key),
      lists: lists.reduce((sum, length) => sum + length, 0),
    };
  }

  /** Whether nothing is left to do with a key. */
  async isSettled(key: string): Promise<boolean> {
    const [left, entries] = await Promise.all([
      this.mover().findAtSource(this.change.source, [key]),
      this.next.hlen('idsmith:reshard:in'),
    ]);
    return left?.length === 0 && entries === 0;
  }

  async stop(): Promise<void> {
    this.old?.disconnect();
    this.next?.disconnect();
    await Promise.all([this.from.close(), this.to.close()]);
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
