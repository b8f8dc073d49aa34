import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '#services';
import { type OwnerChange, ReshardContext } from '../../src/reshard/context.ts';
import { type Direction, KeyMover, type MoveResult } from '../../src/reshard/key-mover.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import { beginReshard } from '../../src/reshard/phase.ts';
import { README_OPTIONS, ringOf } from '../start-shards.ts';

/** The key that most tests move. */
export const KEY = '1jyVFw3401';

/** A resharding from one node to another, so that every key moves. */
export class TwoNodeReshard {
  readonly servers: readonly [RedisServer, RedisServer];
  readonly from: ShardMap;
  readonly to: ShardMap;
  readonly context: ReshardContext;
  readonly change: OwnerChange;
  /** Plain clients, as an application with only the old or only the new config has them. */
  readonly old: Redis;
  readonly next: Redis;
  /** The round that has begun last. */
  round = 0;

  constructor(servers: readonly [RedisServer, RedisServer]) {
    this.servers = servers;
    const [from, to] = this.configs();
    this.from = new ShardMap(from);
    this.to = new ShardMap(to);
    this.context = new ReshardContext(this.from, this.to);
    this.change = this.context.ownerChangeOf('any') as OwnerChange;
    this.old = new Redis(servers[0].port).on('error', () => {});
    this.next = new Redis(servers[1].port).on('error', () => {});
  }

  static async start(): Promise<TwoNodeReshard> {
    return new TwoNodeReshard([await startRedis(), await startRedis()]);
  }

  /** The config with the old node and the one with the new node. */
  configs(more: Partial<ShardConfig> = {}): [ShardConfig, ShardConfig] {
    return this.servers.map((server) => ({
      ...ringOf([server]),
      options: { ...README_OPTIONS, maxSkew: 50 },
      ...more,
    })) as [ShardConfig, ShardConfig];
  }

  /** Empties both nodes, and begins the resharding. */
  async beginReshard(): Promise<void> {
    await Promise.all([this.old.flushall(), this.next.flushall()]);
    await this.begin();
  }

  /** Begins the resharding. */
  async begin(): Promise<void> {
    this.round = (await beginReshard(this.context, undefined)).round;
  }

  mover(afterStep?: AfterStep, direction?: Direction): KeyMover {
    return new KeyMover(this.context.reshardId, {
      afterStep,
      round: this.round,
      ...(direction && { direction }),
    });
  }

  move(afterStep?: AfterStep, key = KEY): Promise<MoveResult> {
    return this.mover(afterStep).move(this.change, [key]);
  }

  /** Moves the key until nothing is left to do, as a later run of `reshard` does. */
  async finishMove(key = KEY): Promise<void> {
    for (let i = 0; i < 5; i++) {
      await this.move(undefined, key);
      if (await this.isSettled(key)) return;
    }
  }

  /** The values of a key on both nodes, and the number of entries in their lists. */
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

  /** Tells whether nothing is left to do with a key. */
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
