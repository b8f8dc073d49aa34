import { ShardMap } from 'idsmith/shard';
import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '../../../../../test/services/index.ts';
import { Parties, type Route } from '../../../src/shard/reshard/context.ts';
import { type Between, Mover } from '../../../src/shard/reshard/move/key-mover.ts';
import { begin } from '../../../src/shard/reshard/move/phase.ts';
import { entriesOf, README_OPTIONS } from '../start-shards.ts';

/** An old node and a new one: every key goes from the one to the other. */
export class TwoNodes {
  readonly servers: readonly [RedisServer, RedisServer];
  readonly from: ShardMap;
  readonly to: ShardMap;
  readonly parties: Parties;
  readonly route: Route;
  /** Plain clients, as an application with only the old or only the new config has them. */
  readonly old: Redis;
  readonly next: Redis;

  constructor(servers: readonly [RedisServer, RedisServer]) {
    this.servers = servers;
    const options = { ...README_OPTIONS, maxSkew: 50 };
    this.from = new ShardMap({ shards: entriesOf([servers[0]]), options });
    this.to = new ShardMap({ shards: entriesOf([servers[1]]), options });
    this.parties = new Parties(this.from, this.to);
    this.route = this.parties.routeOf('any') as Route;
    this.old = new Redis(servers[0].port);
    this.next = new Redis(servers[1].port);
  }

  static async start(): Promise<TwoNodes> {
    return new TwoNodes([await startRedis(), await startRedis()]);
  }

  /** Empties both, and lets keys be moved. */
  async begin(): Promise<void> {
    await Promise.all([this.old.flushall(), this.next.flushall()]);
    await begin(this.parties, undefined);
  }

  mover(between?: Between): Mover {
    return new Mover(this.parties.move, between);
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
      this.mover().look(this.route.source, [key]),
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
