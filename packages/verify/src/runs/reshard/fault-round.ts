import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { abortReshard, reshard, type ShardConfig, ShardMap, TransitionMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { Redis } from 'ioredis';
import type { FaultField } from './fault-field.js';
import { Ledger } from './ledger.js';
import type { RedisNode } from './redis-nodes.js';

/** The kinds of rounds: what happens to nodes while keys move. */
export const ROUNDS = [
  'restarts',
  'older data',
  'no data',
  'full node',
  'lost node',
  "somebody else's run",
  'killed handover',
] as const;

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
    if (this.#kind === "somebody else's run") await this.#wrongRun(applications.maps);
    if (this.#kind === 'killed handover') await this.#killedHandOver();
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
    if (this.#kind === 'killed handover') await this.#oldConfig();
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
      maps,
      stop: async () => {
        this.#ledger.stop();
        await working;
        await Promise.all(maps.map((map) => map.close()));
      },
    };
  }

  /** Runs `reshard` or `abortReshard` on maps of its own. Returns the error, if there was one. */
  async #run(
    run: typeof reshard | typeof abortReshard,
    options: object = {},
    configs: readonly ShardConfig[] = this.#field.configs,
  ): Promise<Error | undefined> {
    const maps = configs.map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
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
  async #move(
    batches: number,
    run: typeof reshard | typeof abortReshard = reshard,
    configs = this.#field.configs,
  ): Promise<void> {
    const point = STEPS[Math.floor(this.#random() * STEPS.length)];
    let left = batches;
    const afterStep = (step: string) => {
      if (step === point && --left <= 0) throw new Error('killed');
    };
    const error = await this.#run(run, { afterStep }, configs);
    this.#hasEnded = error === undefined;
    this.#count(error?.message === 'killed' ? 'movers killed' : 'movers ended or failed');
  }

  /** Somebody begins a resharding to another map, is killed, and gives it up. The applications go on with their maps. */
  async #wrongRun(maps: readonly TransitionMap[]): Promise<void> {
    const configs = [this.#field.configs[0], this.#field.wrongConfig] as const;
    const { failures } = this.#ledger;
    await this.#move(3, reshard, configs);
    // Applications learn of it within two seconds.
    while (this.#ledger.failures < failures + 100) await pause(20);
    await this.#until("aborts of somebody else's run", () => this.#run(abortReshard, {}, configs));
    for (const map of maps)
      for (const key of this.#ledger.keys)
        await map
          .getClient(key)
          .exists(key)
          .catch((error: Error) => {
            this.#ledger.problems.push(`after somebody else's run: ${error.message}`);
          });
  }

  /** A process with the new config comes too early, and one comes after a mover was killed when it had closed the old nodes. */
  async #killedHandOver(): Promise<void> {
    const [from, to] = this.#field.configs;
    if (await this.#mint({ ...to, takesOver: true }))
      this.#ledger.problems.push('a new map minted too early');
    const maps = [new ShardMap(from), new ShardMap(to)] as const;
    // The mover's own calls, which the types of the package do not show.
    const { sequences } = maps[1] as unknown as { readonly sequences: readonly object[] };
    for (const sequence of sequences)
      Object.assign(sequence, { adopt: () => Promise.reject(new Error('killed')) });
    const error = await reshard(...maps).catch((error: Error) => error);
    if (error instanceof Error && error.message === 'killed') this.#count('killed handovers');
    else this.#ledger.problems.push(`a handover was not killed: ${error}`);
    await Promise.all(maps.map((map) => map.close()));
    if (await this.#mint(to)) this.#count('new maps that minted in the gap');
  }

  /** Servers that only the old map has are emptied after the end, and a process with the old config starts there. */
  async #oldConfig(): Promise<void> {
    for (const server of this.#field.oldOnly) await server.command('FLUSHALL');
    if (await this.#mint(this.#field.configs[0])) this.#count('old maps that were let in');
  }

  /** Mints with a config for two seconds, or until it is refused. Returns whether there were any keys. */
  async #mint(config: ShardConfig): Promise<boolean> {
    const map = new ShardMap(config);
    const keys: string[] = [];
    try {
      for (const until = Date.now() + 2000; Date.now() < until; await pause(2))
        for (const key of await map.genKeys('user', 200)) keys.push(key);
    } catch (error) {
      if (!(error instanceof InvalidOptionError)) throw error;
    } finally {
      await map.close();
    }
    for (const key of keys) this.#ledger.minted.push(key);
    return keys.length > 0;
  }

  /** Nodes crash and come back with their data, movers are killed, and the resharding is given up and begun again. */
  async #restarts(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      const { servers } = this.#field;
      const server = servers[Math.floor(this.#random() * servers.length)] as RedisNode;
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

  async #copyData(server: RedisNode): Promise<string> {
    const copy = join(server.dir, `copy-${this.#random()}`);
    await cp(join(server.dir, 'data'), copy, { recursive: true });
    return copy;
  }

  /** Kills a node, and starts it with an older copy of its data or without any. */
  async #loseData(server: RedisNode, copy: string): Promise<void> {
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

  async #loseNode(server: RedisNode): Promise<void> {
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

  async #keysOn(server: RedisNode): Promise<string[]> {
    const client = new Redis(server.port);
    const keys = await client.keys('*');
    client.disconnect();
    return keys;
  }

  #count(what: string): void {
    this.#faults[what] = (this.#faults[what] ?? 0) + 1;
  }
}

/** The part of a key that must be unique: the key without type and suffix. */
const positionOf = (key: string) => (key.split('-', 1)[0] as string).slice(0, -2);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
