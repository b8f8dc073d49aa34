import { InvalidOptionError, type Store } from 'idsmith';
import type { Ids } from 'idsmith/connect';

/** Options of the plugin. Give either `store` or `ids`. */
export interface IdsmithOptions {
  /** The URL of a store, or a store, as for `connect`. The plugin closes what it opens. */
  readonly store?: string | Store;
  /** Ids that your program has connected, and closes itself. */
  readonly ids?: Ids;
  /** The label of every lease, for people. Only with `store`. Default host and process id. */
  readonly label?: string;
  /**
   * Opens generators and sequences before the server listens. Its failure is the failure of `ready()` and `listen()`.
   *
   * @example
   * open: (ids) => Promise.all([ids.flakes('orders'), ids.sequence('invoices', { define: { start: 1 } })])
   */
  readonly open?: (ids: Ids) => Promise<unknown>;
  /** The path of a route for a readiness probe: 200 while `ids.status().ready`, otherwise 503. Without it, there is no route. */
  readonly readiness?: string;
}

const NAMES = ['store', 'ids', 'label', 'open', 'readiness'];

/** Options that Fastify itself gives to every plugin. */
const OF_FASTIFY = ['prefix', 'logLevel', 'logSerializers'];

/**
 * Checks the options before anything is opened.
 *
 * @throws InvalidOptionError naming the option that is wrong
 */
export function requireOptions(options: IdsmithOptions): IdsmithOptions {
  const unknown = Object.keys(options).find((name) => ![...NAMES, ...OF_FASTIFY].includes(name));
  if (unknown !== undefined)
    refuse(`there is no option ${quote(unknown)}: the options are ${NAMES.join(', ')}`);
  const { store, ids, label, open, readiness } = options;
  if (store === undefined && ids === undefined && Object.hasOwn(options, 'store'))
    refuse(
      'store is undefined: give the URL of a store. If it comes from an environment variable, set the variable',
    );
  if ((store === undefined) === (ids === undefined))
    refuse('give either store or ids, not both and not neither');
  if (ids !== undefined && typeof ids?.status !== 'function') refuse('ids must be the result of connect()');
  if (ids !== undefined && label !== undefined) refuse('label needs store: ids have a label of their own');
  if (open !== undefined && typeof open !== 'function') refuse('open must be a function that takes ids');
  if (readiness !== undefined && (typeof readiness !== 'string' || !readiness.startsWith('/')))
    refuse(`readiness must be a path like "/readyz", not ${quote(readiness)}`);
  return options;
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

/** @throws InvalidOptionError with the problem */
export function refuse(problem: string): never {
  throw new InvalidOptionError(`@idsmith/fastify: ${problem}`);
}
