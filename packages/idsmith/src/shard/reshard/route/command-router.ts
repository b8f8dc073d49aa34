import { pause, systemTimer } from '../../../support/timer.js';
import { stemOf } from '../../keys/codec.js';
import type { Parties, Route } from '../context.js';
import { Mover } from '../move/key-mover.js';
import type { Name } from '../redis-key.js';
import { Gate, type Way } from './old-node-session.js';

/** How many keys are remembered to have arrived. */
const REMEMBERED = 50_000;

/** The longest pause before a key is tried again that somebody else is moving, too, ms. */
const BACKOFF = 20;

/**
 * Sends commands on keys to the right node while the keys are moved: to the old owner before it begins, then to the new
 * one, after moving the keys themselves that are not there yet. Commands on keys of one stem keep their order.
 */
export class Router {
  readonly #parties: Parties;
  readonly #mover: Mover;
  readonly #gates: ReadonlyMap<string, Gate>;
  readonly #arrived = new Set<string>();
  /** What has to be sent before the next command on keys of that stem. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(parties: Parties) {
    this.#parties = parties;
    this.#mover = new Mover(parties.move);
    const member = crypto.randomUUID();
    this.#gates = new Map(
      [...parties.sources].map(([name, wire]) => [name, new Gate(wire, parties.move, member)]),
    );
  }

  /** Old and new owner of a key; `undefined` if they are the same. */
  routeOf(key: string): Route | undefined {
    return this.#parties.routeOf(stemOf(key));
  }

  /**
   * Sends a command on keys of one stem, at once if nothing has to be done first.
   *
   * @param send gets the client to use
   */
  send<T>(route: Route, keys: readonly string[], send: (client: unknown) => T): T | Promise<Awaited<T>> {
    const stem = stemOf(keys[0] as string);
    const queue = this.#queues.get(stem);
    const gate = this.#gates.get(route.source.name) as Gate;
    if (queue === undefined) {
      const { way } = gate;
      if (way === 'before' || (way === 'moving' && keys.every((key) => this.#arrived.has(key))))
        return this.#go(gate, route, way, send);
    }
    // In a box, so that the next one waits until this one was sent, not until it was answered.
    const sent = (queue ?? Promise.resolve())
      .then(() => this.#ready(gate, route, keys))
      .then((way) => ({ answer: this.#go(gate, route, way, send) }));
    const turn = sent
      .catch(() => {})
      .then(() => {
        if (this.#queues.get(stem) === turn) this.#queues.delete(stem);
      });
    this.#queues.set(stem, turn);
    return sent.then(({ answer }) => answer) as Promise<Awaited<T>>;
  }

  /** Makes sure that the keys are at their new owner, as far as they are to be there. */
  async settle(route: Route, keys: readonly string[]): Promise<void> {
    await this.#ready(this.#gates.get(route.source.name) as Gate, route, keys);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#gates.values()].map((gate) => gate.close()));
  }

  #go<T>(gate: Gate, { source, target }: Route, way: Way, send: (client: unknown) => T): T {
    const { from, to } = this.#parties;
    return way === 'before' ? gate.track(send(from.clientOf(source.node))) : send(to.clientOf(target.node));
  }

  async #ready(gate: Gate, route: Route, keys: readonly string[]): Promise<Way> {
    const way = await gate.open();
    if (way === 'before') return way;
    await this.#arrive(
      route,
      keys.filter((key) => !this.#arrived.has(key)),
    );
    return way;
  }

  async #arrive(route: Route, keys: readonly string[]): Promise<void> {
    let waiting: Name[] | undefined = [...new Set(keys)];
    for (let round = 0; waiting.length > 0; round++) {
      if (round > 1) await pause(systemTimer, Math.random() * Math.min(BACKOFF, round), false);
      waiting = await this.#mover.look(route.source, waiting);
      if (waiting === undefined) throw route.source.failure('looking for keys', STALE);
      if (waiting.length > 0) await this.#mover.move(route, waiting);
    }
    if (this.#arrived.size + keys.length > REMEMBERED) this.#arrived.clear();
    for (const key of keys) this.#arrived.add(key);
  }
}

const STALE = new Error('another resharding has begun there: use its maps');
