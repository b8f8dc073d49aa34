import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { abortReshard, reshard, ShardMap, TransitionMap } from 'idsmith/shard';
import { Redis } from 'ioredis';
import type { RedisServer } from '#services';
import type { AfterStep } from '../../../src/shard/reshard/move/key-mover.ts';
import { positionOf } from '../start-shards.ts';
import type { FaultField } from './fault-field.ts';
import { Ledger } from './ledger.ts';

/** The kinds of rounds: what happens to nodes while keys move. */
export const ROUNDS = ['restarts', 'older data', 'no data', 'full node', 'lost node'] as const;

/** The kinds of rounds with a Redis Cluster. */
export const CLUSTER_ROUNDS = [...ROUNDS, 'moving slots'] as const;
export type RoundKind = (typeof CLUSTER_ROUNDS)[number];

export interface RoundResult {
  readonly kind: RoundKind;
  readonly problems: readonly string[];
  readonly reads: number;
  readonly writes: number;
  readonly minted: number;
  readonly failures: number;
  /** Keys that were on a node when it lost its data. */
  readonly lost: number;
  readonly faults: Readonly<Record<string, number>>;
}

const STEPS = ['claimed', 'taken', 'put', 'dropped', 'settled'] as const;

/** One resharding between servers with append-only files, with faults of one kind, while applications go on. */
export class FaultRound {
  readonly #kind: RoundKind;
  readonly #field: FaultField;
  readonly #random: () => number;
  readonly #ledger: Ledger;
  readonly #faults: Record<string, number> = {};
  /** The last mover has moved all keys before it was to be killed. */
  #hasEnded = false;

  constructor(kind: RoundKind, field: FaultField, random: () => number, keys: number) {
    this.#kind = kind;
    this.#field = field;
    this.#random = random;
    const names = new ShardMap(field.configs[0]);
    this.#ledger = new Ledger(
      Array.from({ length: keys }, (_, i) => names.fixedKey(1000 + i, i, 2)),
      random,
    );
  }

  async run(): Promise<RoundResult> {
    const { servers, crashing, leaving } = this.#field;
    for (const server of servers) await server.command('FLUSHALL');
    let applications = this.#startApplications();
    await pause(300);
    await this.#move(3);
    if (this.#kind === 'restarts') await this.#restarts();
    if (this.#kind === 'full node') await this.#fullNode();
    if (this.#kind === 'moving slots') await this.#movingSlots();
    if (this.#kind === 'older data' || this.#kind === 'no data') {
      const copy = await this.#copyData(crashing);
      await this.#move(4);
      await pause(200);
      await applications.stop();
      await this.#loseData(crashing, copy);
      applications = this.#startApplications();
      await this.#acceptOlder();
    }
    if (this.#kind === 'lost node') {
      await applications.stop();
      await this.#loseNode(leaving);
      applications = this.#startApplications();
    }
    await this.#finish();
    await pause(200);
    await applications.stop();
    await this.#verify();
    if (this.#kind === 'lost node') await leaving.start();
    const { problems, reads, writes, minted, failures, lost } = this.#ledger;
    const counts = { reads, writes, minted: minted.length, failures, lost };
    return { kind: this.#kind, problems, ...counts, faults: this.#faults };
  }

  #startApplications() {
    this.#ledger.restart();
    const maps = [0, 1].map(() => new TransitionMap(...this.#field.configs));
    const working = Promise.all(maps.map((map) => this.#ledger.use(map)));
    return {
      stop: async () => {
        this.#ledger.stop();
        await working;
        await Promise.all(maps.map((map) => map.close()));
      },
    };
  }

  /** Runs `reshard` or `abortReshard` on maps of its own. Returns the error, if there was one. */
  async #run(run: typeof reshard | typeof abortReshard, options: object = {}): Promise<Error | undefined> {
    const maps = this.#field.configs.map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    try {
      await run(...maps, { batch: 10, ...options });
      return undefined;
    } catch (error) {
      return error as Error;
    } finally {
      await Promise.all(maps.map((map) => map.close()));
    }
  }

  /** Runs the mover, and ends it at some step after some batches, as kill -9 does. */
  async #move(batches: number, run: typeof reshard | typeof abortReshard = reshard): Promise<void> {
    const point = STEPS[Math.floor(this.#random() * STEPS.length)];
    let left = batches;
    const afterStep: AfterStep = (step) => {
      if (step === point && --left <= 0) throw new Error('killed');
    };
    const error = await this.#run(run, { afterStep });
    this.#hasEnded = error === undefined;
    this.#count(error?.message === 'killed' ? 'movers killed' : 'movers ended or failed');
  }

  /** Nodes crash and come back with their data, movers are killed, and the resharding is given up and begun again. */
  async #restarts(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      const { servers } = this.#field;
      const server = servers[Math.floor(this.#random() * servers.length)] as RedisServer;
      const moving = this.#move(1 + Math.floor(this.#random() * 8), i % 2 === 0 ? reshard : abortReshard);
      await pause(this.#random() * 100);
      await server.kill();
      await server.start();
      this.#count('crashes with data');
      await moving;
      if (i === 1) {
        await this.#until('aborts', () => this.#run(abortReshard));
        await this.#move(5);
      }
    }
  }

  /** A cluster moves slots between its masters during a move, during an abort, and during a move again. */
  async #movingSlots(): Promise<void> {
    for (const run of [reshard, abortReshard]) {
      const moving = this.#move(8, run);
      await this.#field.disturb();
      await moving;
    }
    const aborting = this.#until('aborts', () => this.#run(abortReshard));
    await this.#field.disturb();
    await aborting;
    const moving = this.#move(8);
    await this.#field.disturb();
    await moving;
    this.#count('moves of slots');
  }

  async #fullNode(): Promise<void> {
    const { filled: server } = this.#field;
    await server.command('CONFIG', 'SET', 'maxmemory', '1mb');
    const error = await this.#run(reshard);
    if (error !== undefined && !error.message.includes('OOM')) this.#ledger.problems.push(error.message);
    this.#count('full nodes');
    if (this.#random() < 0.5) await this.#until('aborts', () => this.#run(abortReshard));
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
  }

  async #copyData(server: RedisServer): Promise<string> {
    const copy = join(server.dir, `copy-${this.#random()}`);
    await cp(join(server.dir, 'data'), copy, { recursive: true });
    return copy;
  }

  /** Kills a node, and starts it with an older copy of its data or without any. */
  async #loseData(server: RedisServer, copy: string): Promise<void> {
    this.#ledger.forget(await this.#keysOn(server));
    // The node has lost its deletions, too.
    this.#ledger.forgetDeleted((key) => this.#field.isCrashingOwner(key));
    await server.kill();
    await rm(join(server.dir, 'data', 'appendonlydir'), { recursive: true });
    if (this.#kind === 'older data')
      await cp(join(copy, 'appendonlydir'), join(server.dir, 'data', 'appendonlydir'), { recursive: true });
    await rm(copy, { recursive: true });
    await server.start();
    this.#count(`crashes with ${this.#kind}`);
  }

  /** The resharding must not go on by itself if the node has lost steps. */
  async #acceptOlder(): Promise<void> {
    await pause(300);
    const node = this.#field.crashingName;
    const error = await this.#run(reshard);
    if (error === undefined) this.#count('runs that lost nothing');
    else if (error.message.includes(`--accept-older ${node}`)) {
      this.#count('refusals');
      // The refusal says that keys that were deleted since may come back.
      const from = new ShardMap(this.#field.configs[0]);
      const isMeant = (key: string) => from.ownerOf(key).port === this.#field.crashing.port;
      // After the end nobody asks the old node before a deletion, and what the node still has is moved when its state is accepted.
      if (this.#hasEnded) this.#ledger.forgetDeletions(isMeant);
      else this.#ledger.forgetDeleted(isMeant);
      await from.close();
    }
    if (error !== undefined && !error.message.includes(`--accept-older ${node}`))
      this.#ledger.problems.push(`a run with an older node: ${error.message}`);
    await this.#until('accepted older nodes', () => this.#run(reshard, { acceptOlder: [node] }));
    this.#ledger.rememberDeletions();
  }

  async #loseNode(server: RedisServer): Promise<void> {
    this.#ledger.forget(await this.#keysOn(server));
    await server.kill();
    this.#count('lost nodes');
    await this.#until('runs without a lost node', () =>
      this.#run(reshard, { gone: [`127.0.0.1:${server.port}`] }),
    );
  }

  async #finish(): Promise<void> {
    if (this.#kind === 'lost node') return;
    await this.#until('finished', () => this.#run(reshard));
  }

  /** Runs until there is no error. A run may fail while a node has just come back. */
  async #until(what: string, run: () => Promise<Error | undefined>): Promise<void> {
    let error: Error | undefined;
    for (let tries = 0; tries < 10; tries++) {
      error = await run();
      // A mover that was to be killed may have come to the end before.
      if (error?.message.includes('is finished')) return;
      this.#count(error === undefined ? what : 'runs that failed');
      if (error === undefined) return;
    }
    this.#ledger.problems.push(`${what}: ${error?.message}`);
  }

  async #verify(): Promise<void> {
    const { servers, leaving } = this.#field;
    const alive = servers.filter((server) => this.#kind !== 'lost node' || server !== leaving);
    await this.#field.verify(this.#ledger, alive);
    const { minted, problems } = this.#ledger;
    if (new Set(minted.map(positionOf)).size !== minted.length) problems.push('a key was minted twice');
  }

  async #keysOn(server: RedisServer): Promise<string[]> {
    const client = new Redis(server.port);
    const keys = await client.keys('*');
    client.disconnect();
    return keys;
  }

  #count(what: string): void {
    this.#faults[what] = (this.#faults[what] ?? 0) + 1;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
