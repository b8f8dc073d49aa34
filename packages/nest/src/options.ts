import { InvalidOptionError, type Store } from 'idsmith';
import type { Ids } from 'idsmith/connect';

/** The way to the store. Give either `store` or `ids`. */
export interface IdsmithConnection {
  /** The URL of a store, or a store, as for `connect`. The module closes what it opens. */
  readonly store?: string | Store;
  /** Ids that your program has connected, and closes itself. */
  readonly ids?: Ids;
  /** The label of every lease, for people. Only with `store`. Default host and process id. */
  readonly label?: string;
}

/**
 * Functions that open the generators and sequences to inject, each under its name.
 *
 * @example
 * { orders: (ids) => ids.flakes('orders'), invoices: (ids) => ids.sequence('invoices', { define: { start: 1 } }) }
 */
export type IdGenerators = Readonly<Record<string, (ids: Ids) => Promise<unknown>>>;

interface ModuleOptions {
  /** Everything that `@InjectIdGenerator` can inject. It is opened before the application starts. */
  readonly generators?: IdGenerators;
  /** Default true: every module of the application can inject what this module has. */
  readonly isGlobal?: boolean;
}

/** Options of `IdsmithModule.forRoot`. */
export interface IdsmithOptions extends IdsmithConnection, ModuleOptions {}

/** Options of `IdsmithModule.forRootAsync`. */
export interface IdsmithAsyncOptions extends ModuleOptions {
  /** Modules whose providers `useFactory` takes. */
  readonly imports?: readonly unknown[];
  /** Tokens of the parameters of `useFactory`. */
  readonly inject?: readonly unknown[];
  /** Gives the way to the store. */
  readonly useFactory: (...args: never[]) => IdsmithConnection | Promise<IdsmithConnection>;
}

const OF_CONNECTION = ['store', 'ids', 'label'];
const OF_MODULE = ['generators', 'isGlobal'];
const OF_FACTORY = ['imports', 'inject', 'useFactory'];

/** @throws InvalidOptionError naming the option of `forRoot` that is wrong */
export function requireOptions(options: IdsmithOptions): void {
  requireKnown(options, [...OF_CONNECTION, ...OF_MODULE]);
  const { generators, isGlobal, ...connection } = options;
  requireConnection(connection);
  requireModuleOptions({ generators, isGlobal });
}

/** @throws InvalidOptionError naming the option of `forRootAsync` that is wrong */
export function requireAsyncOptions(options: IdsmithAsyncOptions): void {
  requireKnown(options, [...OF_FACTORY, ...OF_MODULE]);
  if (typeof options.useFactory !== 'function') refuse('useFactory must be a function that gives { store }');
  requireModuleOptions(options);
}

/** @throws InvalidOptionError when there is no way to a store, or more than one */
export function requireConnection(connection: IdsmithConnection): IdsmithConnection {
  requireKnown(connection, OF_CONNECTION);
  const { store, ids, label } = connection;
  if (store === undefined && ids === undefined && Object.hasOwn(connection, 'store'))
    refuse(
      'store is undefined: give the URL of a store. If it comes from an environment variable, set the variable',
    );
  if ((store === undefined) === (ids === undefined))
    refuse('give either store or ids, not both and not neither');
  if (ids !== undefined && typeof ids?.status !== 'function') refuse('ids must be the result of connect()');
  if (ids !== undefined && label !== undefined) refuse('label needs store: ids have a label of their own');
  return connection;
}

function requireModuleOptions(options: { generators?: unknown; isGlobal?: unknown }): void {
  const { generators = {}, isGlobal = true } = options;
  if (typeof isGlobal !== 'boolean') refuse(`isGlobal must be true or false, not ${quote(isGlobal)}`);
  for (const [name, open] of Object.entries(generators as object))
    if (typeof open !== 'function')
      refuse(`generators: ${quote(name)} must be a function like (ids) => ids.flakes(${quote(name)})`);
}

function requireKnown(options: object, names: readonly string[]): void {
  const unknown = Object.keys(options ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined)
    refuse(`there is no option ${quote(unknown)}: the options are ${names.join(', ')}`);
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function refuse(problem: string): never {
  throw new InvalidOptionError(`@idsmith/nest: ${problem}`);
}
