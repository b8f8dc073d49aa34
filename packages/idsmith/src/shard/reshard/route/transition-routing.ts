import { pause, systemTimer } from '../../../support/timer.js';
import { RingConflictError } from '../../mint/open-sequences.js';
import type { KeyRouting, ShardMap } from '../../shard-map.js';
import type { Parties } from '../context.js';
import { Router } from './command-router.js';
import { transitClient } from './transition-client.js';

/** How long minting may wait for a hand-over that has begun, ms. One that was killed in the middle goes on when it is run again. */
const PATIENCE = 10_000;

/** How often it looks, ms. */
const INTERVAL = 20;

/** Mints and hands out clients for two maps, while keys go from the one to the other. */
export class StandIn implements KeyRouting {
  readonly #parties: Parties;
  readonly #router: Router;
  #isHandedOver = false;

  constructor(parties: Parties) {
    this.#parties = parties;
    this.#router = new Router(parties);
  }

  getClient(key: string): unknown {
    const { to } = this.#parties;
    const route = this.#router.routeOf(key);
    const target = to.clientOf(to.ownerOf(key));
    return route === undefined ? target : transitClient(this.#router, key, route, target as object);
  }

  /** From the old nodes, until they are told that the new ones do it; between the two nobody does, for a moment. */
  async mint(type: number, count: number): Promise<string[]> {
    const until = performance.now() + PATIENCE;
    for (;;) {
      try {
        return await this.#mintNow(type, count);
      } catch (error) {
        if (!(error instanceof RingConflictError) || performance.now() > until) throw error;
      }
      await pause(systemTimer, INTERVAL, false);
    }
  }

  async #mintNow(type: number, count: number): Promise<string[]> {
    const { from, to } = this.#parties;
    if (!this.#isHandedOver) {
      try {
        return await from.mint(type, count);
      } catch (error) {
        if (!(error instanceof RingConflictError)) throw error;
      }
    }
    const keys = await to.mint(type, count);
    this.#isHandedOver = true;
    return keys;
  }

  async settle(keys: readonly string[]): Promise<void> {
    await Promise.all(
      keys.map(async (key) => {
        const route = this.#router.routeOf(key);
        if (route !== undefined) await this.#router.settle(route, [key]);
      }),
    );
  }

  close(): Promise<void> {
    return this.#router.close();
  }
}

/**
 * Lets the two maps that a process reshards take part in it, as if they were maps in transition.
 *
 * @returns what to call when it has ended
 */
export function takePart(
  parties: Parties,
): (outcome: 'not begun' | 'not finished' | 'finished') => Promise<void> {
  const { from, to } = parties;
  const standIn = new StandIn(parties);
  const before = [from, to].map((map) => map.routing);
  for (const map of [from, to]) map.routing = standIn;
  return async (outcome) => {
    // While keys are here and there, both maps stay what they have become.
    if (outcome === 'not finished') return;
    await standIn.close();
    [from.routing, to.routing] = outcome === 'finished' ? [new Follower(to), undefined] : before;
  };
}

/** Sends whoever still uses the old map to where the keys are now. */
class Follower implements KeyRouting {
  readonly #to: ShardMap<unknown>;

  constructor(to: ShardMap<unknown>) {
    this.#to = to;
  }

  getClient(key: string): unknown {
    return this.#to.clientOf(this.#to.ownerOf(key));
  }

  mint(type: number, count: number): Promise<string[]> {
    return this.#to.mint(type, count);
  }
}
