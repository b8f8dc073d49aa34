import { connect, type Ids } from '../connect/ids.js';
import { InvalidOptionError } from '../errors.js';
import type { Store } from '../stores/store.js';

// The way of frameworks' plugins to their ids. Not public, and apart from `idsmith/internal`, which browsers load: this entry
// knows every store.

/** Options of every plugin. One of `store` and `ids` is given. */
export interface PluginConnection {
  /** The URL of a store, or a store, as for `connect`. The plugin closes what it opens. */
  readonly store?: string | Store | undefined;
  /** Ids that the program has connected, and closes itself. */
  readonly ids?: Ids | undefined;
  /** The label of every lease, for people. Only with `store`. Default host and process id. */
  readonly label?: string | undefined;
}

/** @throws InvalidOptionError naming the plugin, when there is no way to a store, or more than one */
export function requireConnection(plugin: string, connection: PluginConnection): void {
  const { store, ids, label } = connection;
  const refuse = (problem: string): never => {
    throw new InvalidOptionError(`${plugin}: ${problem}`);
  };
  if (store === undefined && ids === undefined && Object.hasOwn(connection, 'store'))
    refuse(
      'store is undefined: give the URL of a store. If it comes from an environment variable, set the variable',
    );
  if ((store === undefined) === (ids === undefined))
    refuse('give either store or ids, not both and not neither');
  if (ids !== undefined && typeof ids?.status !== 'function') refuse('ids must be the result of connect()');
  if (ids !== undefined && label !== undefined) refuse('label needs store: ids have a label of their own');
}

/** The ids of a plugin, and the function that ends them if they are not the program's own. */
export async function pluginIds({
  store,
  ids,
  label,
}: PluginConnection): Promise<[ids: Ids, close: () => Promise<void>]> {
  if (ids !== undefined) return [ids, async () => {}];
  const own = await connect(store as string | Store, label === undefined ? {} : { label });
  return [own, () => own.close()];
}
