import { InvalidOptionError } from '../../errors.js';
import { checkedExecutor } from '../../executor/checked-executor.js';
import { atAnyTime, type Recogniser, type SqlDriver } from '../../executor/driver.js';
import { own } from '../../executor/drivers.js';
import type { SqlDialect } from '../../executor/port.js';
import { isForeign } from '../../executor/shapes.js';
import { refuse, show } from '../../options.js';

/**
 * The driver of a client: an adapter of the user's own, or what one of the recognisers knows.
 *
 * @param known names the clients in the message of the error
 * @throws InvalidOptionError when the client is none of these, or an adapter for another database
 */
export function driverOf(
  client: unknown,
  dialect: SqlDialect,
  recognisers: readonly Recogniser[],
  known: string,
): SqlDriver {
  if (!isForeign(client)) return refuse('client', known, client);
  const adapter = adapters.get(client) ?? checked(own(client));
  if (adapter === undefined) {
    const [driver] = recognisers.flatMap((recognise) => recognise(client) ?? []);
    return driver ?? refuse('client', known, client);
  }
  if (adapter.dialect !== dialect) refuse('dialect', show(dialect), adapter.dialect);
  adapters.set(client, adapter);
  return adapter;
}

const checked = (adapter: SqlDriver | undefined) =>
  adapter && { ...adapter, query: checkedExecutor(adapter).query };

/** The driver of each adapter. Stores on the same adapter take turns. */
const adapters = new WeakMap<object, SqlDriver>();

/** True for an adapter of the user's own: the store changes things in the transactions that the adapter makes. */
export const isAdapter = ({ borrow }: SqlDriver) => borrow === undefined;

/** Lends a connection of the client, or an adapter to everybody who asks. */
export const lenderOf = (driver: SqlDriver) => driver.borrow ?? atAnyTime(driver);

/** @throws InvalidOptionError when the driver is an adapter without transactions */
export function requireTransactions(driver: SqlDriver): SqlDriver {
  if (!isAdapter(driver) || driver.transaction) return driver;
  throw new InvalidOptionError(
    'the adapter of a store must have a method transaction(work), which runs work in a transaction of its own, with an adapter of ' +
      'its connection, and commits. Without it, a rollback of others could undo a change, and ids would repeat',
  );
}
