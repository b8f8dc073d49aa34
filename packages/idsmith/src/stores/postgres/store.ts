import type { SqlAdapter } from '../../drivers/port.js';
import { packageError } from '../../support/load-package.js';
import type { OwnClient } from '../make-store.js';
import { postgres } from '../sql/dialect.js';
import { LINEAGE_SETTINGS, takeLineageOptions } from '../sql/lineage.js';
import {
  type Ask,
  requireTransactions,
  type ServerStoreOptions,
  serverOptions,
  serverStore,
} from '../sql/session.js';
import type { DisposableStore } from '../store.js';
import { addressOf, refuseMisspeltSettings, requireServerUrl } from '../url.js';
import { PostgresLineage } from './lineage.js';
import { type PostgresClient, type PostgresJsClient, PostgresSession, postgresDriver } from './session.js';
import { createLeaseTable, postgresMarker, setUpPasts, setUpSequenceTable } from './tables.js';

/** Options of a PostgreSQL store. */
export type PostgresStoreOptions = ServerStoreOptions;

/**
 * A store in PostgreSQL. The first use of leases creates the table `idsmith_leases`, the first use of sequences creates
 * `id_sequences` and `idsmith_pasts`, all in the first schema of the search path, and with them the view `idsmith_schema`. An
 * `id_sequences` that another program has created gets the columns that are missing.
 *
 * The client stays yours: `close()` does not end it. A `pg.Pool` needs a listener for `'error'`; without one the process ends
 * when the server does. A change on a connection that is inside a transaction is refused, because a rollback would undo it.
 *
 * @param client a `Pool` or `Client` of `pg`, the `sql` of `postgres` (postgres.js), or an adapter of your own with `transaction`
 * @throws InvalidOptionError if an option is wrong, or `client` is none of these
 */
export function postgresStore(
  client: PostgresClient | PostgresJsClient,
  options?: PostgresStoreOptions,
): DisposableStore;
export function postgresStore(adapter: SqlAdapter, options?: PostgresStoreOptions): DisposableStore;
export function postgresStore(
  client: PostgresClient | PostgresJsClient | SqlAdapter,
  options: PostgresStoreOptions = {},
): DisposableStore {
  return storeOn(client, options);
}

/** The wait of openStore's own pool for a connection or an answer, ms, unless the URL sets another. */
const DEFAULT_TIMEOUT = 10_000;

/** Settings after the `?` of a URL: those of `pg`, of libpq, and of a widespread ORM whose URLs are often reused. */
const SETTINGS = [
  'host',
  'port',
  'user',
  'password',
  'database',
  'options',
  'application_name',
  'fallback_application_name',
  'query_timeout',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'connectionTimeoutMillis',
  'idleTimeoutMillis',
  'max',
  'min',
  'maxUses',
  'maxLifetimeSeconds',
  'allowExitOnIdle',
  'keepAlive',
  'keepAliveInitialDelayMillis',
  'client_encoding',
  'encoding',
  'binary',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
  'sslcompression',
  'uselibpqcompat',
  'connect_timeout',
  'channel_binding',
  'target_session_attrs',
  'gssencmode',
  'keepalives',
  'schema',
  'pgbouncer',
  'connection_limit',
  'pool_timeout',
  'socket_timeout',
  'sslaccept',
  'sslidentity',
  ...LINEAGE_SETTINGS,
];

/**
 * The store of a URL like `postgres://user:password@host:5432/database`, with a pool of its own that `close()` ends.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or a setting is misspelt
 * @throws StoreError when `pg` is not installed
 */
export async function openPostgres(url: string): Promise<DisposableStore> {
  requireServerUrl(url);
  refuseMisspeltSettings(url, SETTINGS);
  const [connectionString, options] = takeLineageOptions(url);
  const { default: pg } = await loadPg();
  const pool = new pg.Pool({
    connectionTimeoutMillis: DEFAULT_TIMEOUT,
    query_timeout: DEFAULT_TIMEOUT,
    // As on every store: only a call under way keeps the process alive.
    allowExitOnIdle: true,
    connectionString,
  });
  // The next call replaces an idle connection that breaks, and fails if the server is still away.
  pool.on('error', () => {});
  const timeout = Number(new URL(url).searchParams.get('query_timeout')) || DEFAULT_TIMEOUT;
  return storeOn(pool, { timeout, ...options }, { at: addressOf(url, 5432), end: () => pool.end() });
}

async function loadPg() {
  try {
    return await import('pg');
  } catch (error) {
    throw packageError('pg', error);
  }
}

const SERVER = {
  kind: 'postgres',
  dialect: postgres,
  marker: postgresMarker,
  createLeaseTable,
  setUpSequenceTable,
  setUpPasts,
  lineage: (ask: Ask, isLossless: boolean) => new PostgresLineage(ask, isLossless),
} as const;

/** A store on a client, for `postgresStore` and `openPostgres`. */
function storeOn(
  client: PostgresClient | PostgresJsClient | SqlAdapter,
  options: PostgresStoreOptions,
  own?: OwnClient,
): DisposableStore {
  const settings = serverOptions(options);
  const session = new PostgresSession(requireTransactions(postgresDriver(client)), settings.timeout, own?.at);
  return serverStore(SERVER, session, settings, own);
}
