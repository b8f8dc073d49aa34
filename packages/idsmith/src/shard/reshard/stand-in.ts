import { RingConflictError } from '../admission.js';
import type { KeyRouting } from '../map.js';
import type { Parties } from './parties.js';
import { Router } from './router.js';
import { transitClient } from './transit-client.js';

/** Mints and hands out clients for two maps, while keys go from the one to the other. */
export class StandIn implements KeyRouting {
  readonly #parties: Parties;
  readonly #router: Router;
  #isHandedOver = false;

  constructor(parties: Parties) {
    this.#parties = parties;
    this.#router = new Router(parties);
  }

  /** Stands in for both maps, unless something does already. */
  begin(): void {
    for (const map of [this.#parties.from, this.#parties.to]) map.routing ??= this;
  }

  async end(): Promise<void> {
    for (const map of [this.#parties.from, this.#parties.to])
      if (map.routing === this) map.routing = undefined;
    await this.#router.close();
  }

  getClient(key: string): unknown {
    const { to } = this.#parties;
    const route = this.#router.routeOf(key);
    const target = to.clientOf(to.ownerOf(key));
    return route === undefined ? target : transitClient(this.#router, key, route, target as object);
  }

  /** From the old nodes, until they are told that the new ones do it. */
  async mint(type: number, count: number): Promise<string[]> {
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
}
