import { connect, type Ids } from '../connect/ids.js';
import type {
  FlakesOptions,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  SequenceOpening,
} from '../connect/options.js';
import { InvalidOptionError } from '../errors.js';
import { type IdForm, show } from '../options.js';
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

/** The members of `Ids` that open a generator by its name. */
const OPENERS = ['flakes', 'locality', 'uuid7', 'sequence', 'series'] as const;

/** A generator to open: a function, or one method of `Ids` with its options. The name is the one in the list. */
export type PluginGenerator =
  | ((ids: Ids) => Promise<unknown>)
  | { readonly flakes: FlakesOptions<IdForm> }
  | { readonly locality: LeasedLocalityOptions }
  | { readonly uuid7: LeasedUuid7Options }
  | { readonly sequence: SequenceOpening<IdForm> }
  | { readonly series: Parameters<Ids['series']>[1] };

/** The generators, sequences and series that a plugin opens, each under its name. */
export type PluginGenerators = Readonly<Record<string, PluginGenerator>>;

/** @throws InvalidOptionError naming the plugin and the first generator that is wrong */
export function requireGenerators(plugin: string, generators: unknown = {}): void {
  const refuse = (problem: string): never => {
    throw new InvalidOptionError(`${plugin}: generators: ${problem}`);
  };
  if (typeof generators !== 'object' || generators === null)
    refuse(`must be an object like { orders: { flakes: {} } }, not ${show(generators)}`);
  for (const [name, generator] of Object.entries(generators as object)) {
    if (typeof generator === 'function') continue;
    const [opener, ...more] = Object.keys(generator ?? {});
    if (more.length > 0 || !OPENERS.some((each) => each === opener))
      refuse(
        `${show(name)} must be { flakes: {} } or one of ${OPENERS.slice(1).join(', ')}, or a function like (ids) => ids.flakes(${show(name)})`,
      );
  }
}

/** Opens all generators at once. Fails with the first failure. */
export async function openGenerators(ids: Ids, generators: PluginGenerators): Promise<Map<string, unknown>> {
  const open = (name: string, generator: PluginGenerator): Promise<unknown> => {
    if (typeof generator === 'function') return generator(ids);
    if ('flakes' in generator) return ids.flakes(name, generator.flakes);
    if ('locality' in generator) return ids.locality(name, generator.locality);
    if ('uuid7' in generator) return ids.uuid7(name, generator.uuid7);
    if ('sequence' in generator) return ids.sequence(name, generator.sequence);
    return ids.series(name, generator.series);
  };
  const opened = Object.entries(generators).map(
    async ([name, generator]): Promise<[string, unknown]> => [name, await open(name, generator)],
  );
  return new Map(await Promise.all(opened));
}
