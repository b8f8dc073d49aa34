import { pause, systemTimer } from '../../../support/timer.js';
import { stemOf } from '../../keys/codec.js';
import type { OwnerChange, ReshardContext } from '../context.js';
import { KeyMover } from '../move/key-mover.js';
import type { RedisKey } from '../redis-key.js';
import { type Destination, OldNodeSession } from './old-node-session.js';

/** The number of keys that a process remembers as moved. */
const REMEMBERED_KEYS = 50_000;

/** The longest pause before the next look at a key that another mover is moving, ms. */
const MAX_PAUSE = 20;

/**
 * Sends commands to the right node while keys are moved: to the old owner before the resharding begins, then to the new
 * owner. Moves the keys of a command first, unless they have been moved. Commands on keys of one stem keep their order.
 */
export class CommandRouter {
  readonly #context: ReshardContext;
  readonly #mover: KeyMover;
  /** The sessions by the name of the old node. */
  readonly #sessions: ReadonlyMap<string, OldNodeSession>;
  /** Keys that are known to be at their new owner. */
  readonly #moved = new Set<string>();
  /** For each stem: a promise that is fulfilled when the last queued command has been sent. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(context: ReshardContext) {
    const { reshardId, sources } = context;
    this.#context = context;
    this.#mover = new KeyMover(reshardId);
    const processId = crypto.randomUUID();
    this.#sessions = new Map(
      [...sources].map(([name, node]) => [name, new OldNodeSession(node, reshardId, processId)]),
    );
  }

  /** The old and the new owner of a key; `undefined` if they are the same node. */
  ownerChangeOf(key: string): OwnerChange | undefined {
    return this.#context.ownerChangeOf(stemOf(key));
  }

  /** Tells whether commands go to the new owner now, as far as is known without asking a node. */
  isAtNewOwner(change: OwnerChange): boolean {
    return this.#sessionOf(change).destination === 'new owner';
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
    const session = this.#sessionOf(change);
    if (queue === undefined) {
      const { destination } = session;
      const isReady =
        destination === 'old owner' ||
        (destination === 'new owner' && keys.every((key) => this.#moved.has(key)));
      if (isReady) return this.#sendTo(destination, change, send);
    }
    // The answer is wrapped in an object, so that the next command waits until this one is sent, not until it is answered.
    const sent = (queue ?? Promise.resolve())
      .then(() => this.#prepare(change, keys))
      .then((destination) => ({ answer: this.#sendTo(destination, change, send) }));
    const turn = sent
      .catch(() => {})
      .then(() => {
        if (this.#queues.get(stem) === turn) this.#queues.delete(stem);
      });
    this.#queues.set(stem, turn);
    return sent.then(({ answer }) => answer) as Promise<Awaited<T>>;
  }

  /** Moves keys to their new owner, if the resharding has begun. */
  async settle(change: OwnerChange, keys: readonly string[]): Promise<void> {
    await this.#prepare(change, keys);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  #sessionOf({ source }: OwnerChange): OldNodeSession {
    return this.#sessions.get(source.name) as OldNodeSession;
  }

  #sendTo<T>(destination: Destination, change: OwnerChange, send: (client: unknown) => T): T {
    const { from, to } = this.#context;
    if (destination === 'new owner') return send(to.clientOf(change.target.node));
    return this.#sessionOf(change).track(send(from.clientOf(change.source.node)));
  }

  async #prepare(change: OwnerChange, keys: readonly string[]): Promise<Destination> {
    const destination = await this.#sessionOf(change).open();
    if (destination === 'new owner')
      await this.#moveKeys(
        change,
        keys.filter((key) => !this.#moved.has(key)),
      );
    return destination;
  }

  async #moveKeys(change: OwnerChange, keys: readonly string[]): Promise<void> {
    let waiting: RedisKey[] | undefined = [...new Set(keys)];
    for (let round = 0; waiting.length > 0; round++) {
      if (round > 1) await pause(systemTimer, Math.random() * Math.min(MAX_PAUSE, round), false);
      waiting = await this.#mover.findAtSource(change.source, waiting);
      if (waiting === undefined) throw change.source.errorOf('looking for keys', OTHER_RESHARD);
      if (waiting.length > 0) await this.#mover.move(change, waiting);
    }
    if (this.#moved.size + keys.length > REMEMBERED_KEYS) this.#moved.clear();
    for (const key of keys) this.#moved.add(key);
  }
}

const OTHER_RESHARD = new Error('another resharding has begun there: use a TransitionMap with its configs');
