import { InvalidOptionError, packageError } from 'idsmith/internal';
import {
  addressOf,
  type DisposableStore,
  makeStore,
  type OwnClient,
  requireServerUrl,
  SchemaGate,
  type SqlStoreOptions,
  sequenceStore,
  sqlRunner,
  sqlTimeout,
} from 'idsmith/internal/stores';
import { type OracleStorePool, oracleSession } from './client.js';
import { isFault, type OracleFault } from './faults.js';
import { createLeaseTable, oracleLeases } from './leases.js';
import { oracleRows } from './sequences.js';
import { oracleMarker, setUpSequenceTable } from './tables.js';

/** Options of an Oracle store. */
export type OracleStoreOptions = SqlStoreOptions;

const ROLLED_BACK: readonly OracleFault[] = ['undone'];

/**
 * A store in Oracle, for shops whose `id_sequences` is there. An existing table gets the columns that are missing, invisible, so that
 * programs which insert four values go on to work. The first use of leases creates the table `idsmith_leases`.
 *
 * The store is written against the documentation of `oracledb`. No Oracle server is part of the project's own tests: run them on yours
 * with `ORACLE_URL` before you rely on the store.
 *
 * @param pool a `Pool` of the package `oracledb`, which stays yours: `close()` does not end it
 * @throws InvalidOptionError when `pool` is no pool, or `timeout` is not a number of ms
 */
export function oracleStore(pool: OracleStorePool, options: OracleStoreOptions = {}): DisposableStore {
  return storeOn(pool, options);
}

/** @param own the pool that `openOracle` made for the store */
function storeOn(pool: OracleStorePool, options: OracleStoreOptions, own?: OwnClient): DisposableStore {
  const session = oracleSession(pool, sqlTimeout(options));
  const schema = new SchemaGate('oracle', oracleMarker(session));
  const admit = () => schema.admit();
  const mark = () => schema.mark();
  const runner = (createTable: () => Promise<void>) =>
    sqlRunner({
      name: 'oracle',
      at: own?.at,
      setUp: async () => {
        await admit();
        await createTable();
      },
      isTransient: (error) => isFault(error, ...ROLLED_BACK),
    });
  const runAlone = runner(async () => {});
  const methods = {
    ...oracleLeases(
      runner(() => createLeaseTable(session, mark)),
      session,
    ),
    ...sequenceStore(
      oracleRows(
        runner(() => setUpSequenceTable(session, mark)),
        session,
      ),
    ),
    schemaVersion: () => runAlone('schemaVersion', admit),
    durable: true,
  };
  return makeStore('oracle', methods, own);
}

/**
 * The store of a URL like `oracle://user:password@host:1521/service`, with a pool of its own that `close()` ends. `openStore` of
 * `idsmith/stores` calls it.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or has settings
 * @throws StoreError when `oracledb` is not installed
 */
export async function openOracle(url: string): Promise<DisposableStore> {
  const { hostname, port, pathname, username, password, searchParams } = new URL(requireServerUrl(url));
  if (searchParams.size > 0)
    throw new InvalidOptionError(
      'an oracle: URL has nothing after a ?: give oracleStore(pool) a pool with other settings',
    );
  const { default: oracledb } = await loadDriver();
  const pool = await oracledb.createPool({
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    connectString: `${hostname}:${port || 1521}${pathname}`,
    // The first call of the store opens the first connection.
    poolMin: 0,
  });
  // Connections that are in use are given up: calls that are under way fail.
  return storeOn(pool, {}, { at: addressOf(url, 1521), end: () => pool.close(0) });
}

async function loadDriver() {
  try {
    return await import('oracledb');
  } catch (error) {
    throw packageError('oracledb', error);
  }
}
