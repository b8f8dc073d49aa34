import type { ShardCluster } from '../config/cluster-settings.js';
import type { AnyClient, ShardConfig } from '../config/config.js';
import { ShardMap } from '../map/shard-map.js';
import { ReshardContext } from '../reshard/context.js';
import { TransitionRouting } from './transition-routing.js';

/**
 * The map for applications during a resharding, from before its beginning until after its end. Before the resharding begins, it
 * works as the old map. Afterwards it works as the new map, and moves a key on first use if the key has not been moved yet.
 *
 * The client of `getClient(key)` is for that key and for keys with the same stem, `key-…`.
 *
 * @typeParam Client the type of the clients
 *
 * @example
 * const map = new TransitionMap(fourNodes, sixNodes);
 * await map.getClient(key).hSet(key, 'name', 'Ada');
 */
export class TransitionMap<Client = AnyClient> extends ShardMap<Client> {
  readonly #from: ShardMap<Client>;
  readonly #transition: TransitionRouting;

  /**
   * @param from the old config
   * @param to the new config
   * @throws InvalidOptionError naming the entry of a config that is wrong
   */
  constructor(from: ShardConfig, to: ShardConfig & { readonly cluster: ShardCluster });
  constructor(from: ShardConfig<Client>, to: ShardConfig<Client>);
  constructor(from: ShardConfig<Client>, to: ShardConfig<Client>) {
    super(to);
    this.#from = new ShardMap(from);
    this.#transition = new TransitionRouting(new ReshardContext(this.#from, this));
    this.routing = this.#transition;
  }

  /**
   * Moves keys to their new owners if the resharding has begun. Use this for keys that are not among the arguments of a
   * command, for example keys that a script computes.
   */
  async settle(...keys: string[]): Promise<void> {
    await this.#transition.settle(keys);
  }

  override async close(): Promise<void> {
    await this.#transition.close();
    await this.#from.close();
    await super.close();
  }
}
