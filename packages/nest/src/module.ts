import { Ids } from 'idsmith/connect';
import { openGenerators, pluginIds } from 'idsmith/internal/plugins';
import { IdsHealthIndicator } from './health.js';
import { idGeneratorToken } from './inject.js';
import {
  type IdGenerators,
  type IdsmithAsyncOptions,
  type IdsmithConnection,
  type IdsmithOptions,
  requireAsyncOptions,
  requireGivenConnection,
  requireOptions,
} from './options.js';

/** A module for the `imports` of another. Nest knows it as `DynamicModule`. */
export interface IdsmithDynamicModule {
  module: typeof IdsmithModule;
}

/** A provider of Nest that is made by a function. */
interface FactoryProvider {
  provide: unknown;
  useFactory: (...args: never[]) => unknown;
  inject?: readonly unknown[];
}

/** The injection token of the options of the connection. */
const CONNECTION = 'idsmith connection';

/**
 * A Nest module that opens ids with the application and closes them after its last request.
 *
 * @example
 * imports: [
 *   IdsmithModule.forRoot({ store: 'sqlite:./ids.db', generators: { orders: { flakes: {} } } }),
 * ]
 */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest takes classes as modules.
export class IdsmithModule {
  /**
   * The module for a store that is known at once.
   *
   * @throws InvalidOptionError naming the option that is wrong
   */
  static forRoot(options: IdsmithOptions): IdsmithDynamicModule {
    requireOptions(options);
    const { generators, isGlobal, ...connection } = options;
    return moduleOf({ provide: CONNECTION, useFactory: () => connection }, { generators, isGlobal });
  }

  /**
   * The module for a store that another provider knows, such as a `ConfigService`.
   *
   * @throws InvalidOptionError naming the option that is wrong
   */
  static forRootAsync(options: IdsmithAsyncOptions): IdsmithDynamicModule {
    requireAsyncOptions(options);
    const { useFactory, inject = [] } = options;
    return moduleOf({ provide: CONNECTION, useFactory, inject }, options);
  }
}

function moduleOf(
  connection: FactoryProvider,
  options: Pick<IdsmithAsyncOptions, 'imports'> & {
    generators?: IdGenerators | undefined;
    isGlobal?: boolean | undefined;
  },
): IdsmithDynamicModule {
  const { imports = [], generators = {}, isGlobal = true } = options;
  const shared: FactoryProvider[] = [
    { provide: Ids, useFactory: ({ ids }: IdsKeeper) => ids, inject: [IdsKeeper] },
    { provide: IdsHealthIndicator, useFactory: (ids: Ids) => new IdsHealthIndicator(ids), inject: [Ids] },
    ...Object.keys(generators).map((name) => ({
      provide: idGeneratorToken(name),
      useFactory: ({ opened }: IdsKeeper) => opened.get(name),
      inject: [IdsKeeper],
    })),
  ];
  const open = (way: IdsmithConnection) => IdsKeeper.open(way, generators);
  const description = {
    module: IdsmithModule,
    global: isGlobal,
    imports,
    providers: [connection, { provide: IdsKeeper, useFactory: open, inject: [CONNECTION] }, ...shared],
    exports: shared.map(({ provide }) => provide),
  };
  return description;
}

/** Holds the ids of an application and everything that was opened for it. Nest calls its hook at the end. */
class IdsKeeper {
  readonly ids: Ids;
  /** The generators and sequences by their names. */
  readonly opened: ReadonlyMap<string, unknown>;
  readonly #close: () => Promise<void>;

  private constructor(ids: Ids, opened: ReadonlyMap<string, unknown>, close: () => Promise<void>) {
    this.ids = ids;
    this.opened = opened;
    this.#close = close;
  }

  /** Connects and opens everything. If something fails, nothing stays open. */
  static async open(connection: IdsmithConnection, generators: IdGenerators): Promise<IdsKeeper> {
    requireGivenConnection(connection);
    const [ids, close] = await pluginIds(connection);
    try {
      return new IdsKeeper(ids, await openGenerators(ids, generators), close);
    } catch (error) {
      // The first error is the one to know about. A lease that cannot be released expires.
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** Closes the ids. Nest has closed the server by then, so that requests under way could still mint. */
  onApplicationShutdown(): Promise<void> {
    return this.#close();
  }
}
