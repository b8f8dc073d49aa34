import { requireKnown } from '../../options.js';
import { requireTimeout } from '../../support/timeout.js';

/** Options of a store on a database server. */
export interface SqlStoreOptions {
  /** The longest time for a statement, ms, including the wait for a connection or a lock. Default 10,000. */
  readonly timeout?: number;
}

/**
 * The time limit of a store on a database server, ms.
 *
 * @throws InvalidOptionError when `timeout` is out of range, or an option is unknown
 */
export function sqlTimeout(options: SqlStoreOptions): number {
  return requireTimeout(requireKnown('options', options, ['timeout']).timeout, 10_000);
}
