import { pause, StoreError, systemTimer } from 'idsmith/internal';
import { stemOf } from '../keys/codec.js';
import { isMismatch, MismatchError, mismatchError } from '../reshard/compare-states.js';
import type { OwnerChange, ReshardContext } from '../reshard/context.js';
import { type Direction, KeyMover, StalePhaseError } from '../reshard/key-mover.js';
import type { NodeConnection } from '../reshard/node-connection.js';
import { stopOn } from '../reshard/phase.js';
import type { RedisKey } from '../reshard/redis-keys.js';
import { Membership, type NodeUse } from './membership.js';
import { NodeChecks } from './node-checks.js';

/** The number of keys that a process remembers as settled. */
const REMEMBERED_KEYS = 50_000;

/** The time after which the nodes are asked again whether this resharding still fits them, ms. */
const FIT_INTERVAL = 2000;

/** The longest pause before the next look at a key that another mover is moving, ms. */
const MAX_PAUSE = 20;

/**
 * Sends commands to the right node while keys are moved: to the old owner before the resharding begins, then to the new
 * owner. Moves the keys of a command first, unless they have been moved. After the resharding was given up, everything goes
 * the other way. Commands on keys of one stem keep their order.
 */
export class CommandRouter {
  readonly #context: ReshardContext;
  /** The movers of the present round. */
  #movers: Readonly<Record<Direction, KeyMover>>;
  readonly #checks: NodeChecks;
  readonly #processId = crypto.randomUUID();
  /** The memberships by use and name of the node. */
  readonly #memberships = new Map<string, Membership>();
  /** Keys that are known to be at their new owner, and after the resharding was given up those at their old owner. */
  readonly #settled: Readonly<Record<Direction, Set<string>>> = { out: new Set(), back: new Set() };
  /** The round of the resharding in which these keys were settled. */
  #round = 0;
  /** For each stem: a promise that is fulfilled when the last queued command has been sent. */
  readonly #queues = new Map<string, Promise<unknown>>();
  /** All keys have been moved. */
  #isDone = false;
  /** The question before the first command. It is asked again after the nodes had another resharding. */
  #asked: Promise<void> | undefined;
  /** The time of the last answer that the resharding fits the nodes. */
  #fitAt = Number.NEGATIVE_INFINITY;
  /** Counts the times that a node told of another resharding. An answer from before says nothing any more. */
  #doubts = 0;

  constructor(context: ReshardContext) {
    this.#context = context;
    this.#checks = new NodeChecks(context, {
      ended: () => this.#end(),
      mismatched: () => this.#doubt(),
    });
    this.#movers = moversOf(context, this.#round);
  }

  /** The old and the new owner of a key; `undefined` if they are the same node. */
  ownerChangeOf(key: string): OwnerChange | undefined {
    return this.#context.ownerChangeOf(stemOf(key));
  }

  /** Tells whether this resharding is known to fit the nodes. Asks them again in the background from time to time. */
  get isKnownToFit(): boolean {
    const age = performance.now() - this.#fitAt;
    if (age > FIT_INTERVAL && age < Number.POSITIVE_INFINITY) {
      this.#fitAt = performance.now();
      this.#askPhase().catch(() => {});
    }
    return age < Number.POSITIVE_INFINITY;
  }

  /** Tells whether commands go to the new owner now, as far as is known without asking a node. */
  isAtNewOwner(change: OwnerChange): boolean {
    if (this.#isDone || this.#isGone(change.source)) return true;
    const [old, next] = this.#membershipsOf(change);
    return old.standing === 'left' && next.standing !== 'left';
  }

  /**
   * Sends a command on keys of one stem. The command is sent at once if no key has to be moved and no other command waits.
   *
   * @param send called with the client to use
   */
  send<T>(
    change: OwnerChange,
    keys: readonly string[],
    send: (client: unknown) => T,
  ): T | Promise<Awaited<T>> {
    const stem = stemOf(keys[0] as string);
    const queue = this.#queues.get(stem);
    if (queue === undefined) {
      const owner = this.#readyOwner(change, keys);
      if (owner !== undefined) return this.#sendTo(owner, change, stem, send);
    }
    // The answer is wrapped in an object, so that the next command waits until this one is sent, not until it is answered.
    const sent = (queue ?? Promise.resolve())
      .then(() => this.#prepare(change, keys))
      .then((owner) => ({ answer: this.#sendTo(owner, change, stem, send) }));
    const turn = sent
      .catch(() => {})
      .then(() => {
        if (this.#queues.get(stem) === turn) this.#queues.delete(stem);
      });
    this.#queues.set(stem, turn);
    return sent.then(({ answer }) => answer) as Promise<Awaited<T>>;
  }

  /** Moves keys to their owner in the present phase. */
  async settle(change: OwnerChange, keys: readonly string[]): Promise<void> {
    await this.#prepare(change, keys);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#memberships.values()].map((membership) => membership.close()));
  }

  #membership(use: NodeUse, node: NodeConnection): Membership {
    const name = `${use} ${node.address}`;
    const membership =
      this.#memberships.get(name) ?? new Membership(use, node, this.#context, this.#checks, this.#processId);
    this.#memberships.set(name, membership);
    return membership;
  }

  #sendTo<T>(owner: NodeUse, change: OwnerChange, stem: string, send: (client: unknown) => T): T {
    const { from, to } = this.#context;
    if (change.source === change.target) return send(to.clientOf(change.target.node));
    const [map, node] = owner === 'old owner' ? [from, change.source] : [to, change.target];
    return this.#membership(owner, node).track(send(map.ownClient(node.node, stem)));
  }

  /** The owner to send a command to, if it is known without asking any node. */
  #readyOwner(change: OwnerChange, keys: readonly string[]): NodeUse | undefined {
    if (this.#isDone) return 'new owner';
    if (change.source === change.target) return this.isKnownToFit ? 'new owner' : undefined;
    const [old, next] = this.#membershipsOf(change);
    const isSettled = (direction: Direction) =>
      old.round === this.#round && keys.every((key) => this.#settled[direction].has(key));
    if (old.standing === 'open')
      return old.phase !== 'returning' || isSettled('back') ? 'old owner' : undefined;
    const isLeft = old.standing === 'left' || this.#isGone(change.source);
    const isCurrent = next.standing === 'open' && next.round <= old.round;
    return isLeft && isCurrent && isSettled('out') ? 'new owner' : undefined;
  }

  #membershipsOf({ source, target }: OwnerChange): readonly [old: Membership, next: Membership] {
    return [this.#membership('old owner', source), this.#membership('new owner', target)];
  }

  #isGone(node: NodeConnection): boolean {
    return this.#context.gone.has(node.address);
  }

  /** Waits until commands on these keys may be sent to the owner that is returned. */
  async #prepare(change: OwnerChange, keys: readonly string[]): Promise<NodeUse> {
    for (;;) {
      this.#asked ??= this.#askPhase().catch((error) => {
        this.#asked = undefined;
        throw error;
      });
      await this.#asked;
      const owner = await this.#prepareOnce(change, keys).catch((error) => this.#recover(change, error));
      if (owner !== undefined) return owner;
      await pause(systemTimer, MAX_PAUSE, false);
    }
  }

  async #askPhase(): Promise<void> {
    const doubts = this.#doubts;
    try {
      if ((await this.#checks.commonPhase()) === 'done') this.#end();
      if (doubts === this.#doubts) this.#fitAt = performance.now();
    } catch (error) {
      if (error instanceof MismatchError) this.#doubt();
      throw error;
    }
  }

  /** The nodes have another resharding, which may be given up at any time. Until then, every command asks the nodes first. */
  #doubt(): void {
    this.#doubts++;
    this.#fitAt = Number.NEGATIVE_INFINITY;
    this.#asked = undefined;
  }

  /** All keys have been moved: nobody has to be asked any more. */
  #end(): void {
    this.#isDone = true;
    void this.close();
  }

  /** @returns `undefined` if the phase has changed meanwhile */
  async #prepareOnce(change: OwnerChange, keys: readonly string[]): Promise<NodeUse | undefined> {
    const { source, target } = change;
    if (this.#isDone) return 'new owner';
    if (source === target) return this.isKnownToFit ? 'new owner' : undefined;
    const [old, next] = this.#membershipsOf(change);
    if (!this.#isGone(source) && (await old.open()) === 'open') {
      if (old.phase === 'returning' && !this.#isGone(target)) await this.#moveKeys('back', change, keys);
      return old.standing === 'open' ? 'old owner' : undefined;
    }
    if (this.#isDone) return 'new owner';
    if ((await next.open()) === 'open') {
      // The resharding was given up and has begun again since the old owner was asked.
      if (next.round > old.round && !this.#isGone(source) && next.phase === 'moving') {
        old.reopen();
        return undefined;
      }
      // A cluster begins before all old owners.
      if (target.isCluster && (next.phase === 'before' || next.phase === 'preparing'))
        throw otherClusterError(this.#context);
      if (old.phase === 'done' || next.phase === 'done') this.#end();
      else if (!this.#isGone(source)) await this.#moveKeys('out', change, keys);
      return this.#isDone || next.standing === 'open' ? 'new owner' : undefined;
    }
    // The new owner gives its keys back, and the old one may not know yet.
    if (next.phase === 'returning') await stopOn(this.#context, source, next.round);
    for (const membership of [old, next]) membership.reopen();
    return undefined;
  }

  /** Finds out why a step failed. Throws the error, unless another attempt may succeed. */
  async #recover({ source, target }: OwnerChange, error: unknown): Promise<undefined> {
    if (!(error instanceof StalePhaseError)) {
      // The resharding may be over, and an old node switched off. Or the node may be gone.
      const gone = this.#context.gone.size;
      if ((await this.#checks.commonPhase().catch(() => undefined)) === 'done') this.#end();
      else if (this.#context.gone.size === gone) throw error;
      return;
    }
    const { node, phase, about, isChecked } = error;
    if (!isChecked) await this.#checks.check(node);
    else if (isMismatch(phase, true)) throw mismatchError(this.#context, node.address, phase, about);
    else {
      // One of the two has learned that the resharding was given up.
      const stopped = [error, ...this.#membershipsOf({ source, target })].filter(
        (one) => one.phase === 'stopping' || one.phase === 'returning',
      );
      const round = Math.max(0, ...stopped.map((one) => one.round));
      if (round > 0) for (const one of [source, target]) await stopOn(this.#context, one, round);
      for (const membership of this.#membershipsOf({ source, target })) membership.reopen();
    }
  }

  async #moveKeys(direction: Direction, change: OwnerChange, wanted: readonly string[]): Promise<void> {
    const { round: present } = this.#membership('old owner', change.source);
    if (present !== this.#round) {
      for (const set of Object.values(this.#settled)) set.clear();
      this.#movers = moversOf(this.#context, present);
    }
    this.#round = present;
    const [settled, mover] = [this.#settled[direction], this.#movers[direction]];
    const way = direction === 'out' ? change : { source: change.target, target: change.source };
    const keys = wanted.filter((key) => !settled.has(key));
    let waiting: RedisKey[] = [...new Set(keys)];
    for (let round = 0; waiting.length > 0; round++) {
      if (round > 1) await pause(systemTimer, Math.random() * Math.min(MAX_PAUSE, round), false);
      waiting = await mover.findAtSource(way.source, waiting);
      if (waiting.length > 0) await mover.move(way, waiting);
    }
    this.#settled[direction === 'out' ? 'back' : 'out'].clear();
    if (settled.size + keys.length > REMEMBERED_KEYS) settled.clear();
    for (const key of keys) settled.add(key);
  }
}

function moversOf({ reshardId }: ReshardContext, round: number): Record<Direction, KeyMover> {
  return {
    out: new KeyMover(reshardId, { round }),
    back: new KeyMover(reshardId, { round, direction: 'back' }),
  };
}

function otherClusterError({ description }: ReshardContext): StoreError {
  return new StoreError(
    `node cluster knows nothing of the resharding ${description}, which has begun on the old nodes. Is it another Redis Cluster, or ` +
      'has it lost data? Nothing was changed: use the cluster that keys are moved to',
  );
}
