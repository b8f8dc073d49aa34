import { InvalidOptionError } from 'idsmith';
import { requireKnown, show } from 'idsmith/internal';
import {
  type PluginConnection,
  type PluginGenerators,
  requireConnection,
  requireGenerators,
} from 'idsmith/internal/plugins';

/** The way to the store. Give either `store` or `ids`. */
export interface IdsmithConnection extends PluginConnection {}

/**
 * The generators, sequences and series to inject, each under its name: one method of `Ids` with its options, or a function.
 *
 * @example
 * { orders: { flakes: {} }, invoices: { sequence: { define: { start: 1 } } }, logs: (ids) => ids.uuid7('logs') }
 */
export type IdGenerators = PluginGenerators;

interface ModuleOptions {
  /** Everything that `@InjectIdGenerator` can inject. It is opened before the application starts. */
  readonly generators?: IdGenerators | undefined;
  /** Default true: every module of the application can inject what this module has. */
  readonly isGlobal?: boolean | undefined;
}

/** Options of `IdsmithModule.forRoot`. */
export interface IdsmithOptions extends IdsmithConnection, ModuleOptions {}

/** Options of `IdsmithModule.forRootAsync`. */
export interface IdsmithAsyncOptions extends ModuleOptions {
  /** Modules whose providers `useFactory` takes. */
  readonly imports?: readonly unknown[] | undefined;
  /** Tokens of the parameters of `useFactory`. */
  readonly inject?: readonly unknown[] | undefined;
  /** Gives the way to the store. */
  readonly useFactory: (...args: never[]) => IdsmithConnection | Promise<IdsmithConnection>;
}

const MODULE = '@idsmith/nest';
const OF_CONNECTION = ['store', 'ids', 'label'];
const OF_MODULE = ['generators', 'isGlobal'];
const OF_FACTORY = ['imports', 'inject', 'useFactory'];

/** @throws InvalidOptionError naming the option of `forRoot` that is wrong */
export function requireOptions(options: IdsmithOptions): void {
  requireKnown(MODULE, options ?? {}, [...OF_CONNECTION, ...OF_MODULE]);
  const { generators, isGlobal, ...connection } = options;
  requireConnection(MODULE, connection);
  requireModuleOptions({ generators, isGlobal });
}

/** @throws InvalidOptionError naming the option of `forRootAsync` that is wrong */
export function requireAsyncOptions(options: IdsmithAsyncOptions): void {
  requireKnown(MODULE, options ?? {}, [...OF_FACTORY, ...OF_MODULE]);
  if (typeof options.useFactory !== 'function') refuse('useFactory must be a function that gives { store }');
  requireModuleOptions(options);
}

/** @throws InvalidOptionError when the factory of `forRootAsync` has given no way to a store, or more than one */
export function requireGivenConnection(connection: IdsmithConnection): void {
  requireKnown(MODULE, connection ?? {}, OF_CONNECTION);
  requireConnection(MODULE, connection ?? {});
}

function requireModuleOptions(options: { generators?: unknown; isGlobal?: unknown }): void {
  const { generators = {}, isGlobal = true } = options;
  if (typeof isGlobal !== 'boolean') refuse(`isGlobal must be true or false, not ${show(isGlobal)}`);
  requireGenerators(MODULE, generators);
}

function refuse(problem: string): never {
  throw new InvalidOptionError(`${MODULE}: ${problem}`);
}
