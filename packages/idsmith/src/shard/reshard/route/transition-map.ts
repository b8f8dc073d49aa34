import type { ShardConfig } from '../../config.js';
import type { AnyClient } from '../../nodes/clients.js';
import { ShardMap } from '../../shard-map.js';
import { Parties } from '../context.js';
import { StandIn } from './transition-routing.js';

/**
 * The map that applications use from before a resharding begins until after it has ended. Until it begins it is the old
 * map; from then on the new one, except that a key that has not been moved yet is moved when it is used.
 *
 * `getClient(key)` is for that key and for keys with the same stem, `key-…`.
 *
 * @typeParam Client the type of the clients
 *
 * @example
 * const map = new TransitionMap(fourNodes, sixNodes);
 * await map.getClient(key).hset(key, 'name', 'Ada');
 */
export class TransitionMap<Client = AnyClient> extends ShardMap<Client> {
  readonly #from: ShardMap<Client>;
  readonly #standIn: StandIn;

  /**
   * @param from the config until now
   * @param to the config to come
   * @throws InvalidOptionError naming the entry of a config that is wrong
   */
  constructor(from: ShardConfig<Client>, to: ShardConfig<Client>, ...more: never[]) {
    super(to, ...more);
    this.#from = new ShardMap(from);
    this.#standIn = new StandIn(new Parties(this.#from, this));
    this.routing = this.#standIn;
  }

  /**
   * Makes sure that keys are at their new owners if the resharding has begun, for what `getClient` cannot see: a key
   * that a script makes up, for example.
   */
  async settle(...keys: string[]): Promise<void> {
    await this.#standIn.settle(keys);
  }

  override async close(): Promise<void> {
    await this.#standIn.close();
    await this.#from.close();
    await super.close();
  }
}
