import { packageError } from '../../support/load-package.js';
import type { DisposableStore } from '../store.js';
import { addressOf, refuseMisspeltSettings, requireServerUrl } from '../url.js';
import { storeOn } from './store.js';

/** The wait of openStore's own pool for a connection or an answer, ms, unless the URL sets another. */
const DEFAULT_TIMEOUT = 10_000;

/** Settings after the `?` of a URL: those of `pg`, of libpq, and of a widespread ORM whose URLs are often reused. */
const SETTINGS = [
  ...['host', 'port', 'user', 'password', 'database', 'options'],
  ...['application_name', 'fallback_application_name'],
  ...['query_timeout', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
  ...['connectionTimeoutMillis', 'idleTimeoutMillis', 'max', 'min', 'maxUses', 'maxLifetimeSeconds'],
  ...['allowExitOnIdle', 'keepAlive', 'keepAliveInitialDelayMillis', 'client_encoding', 'encoding', 'binary'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'sslcompression'],
  ...['uselibpqcompat', 'connect_timeout', 'channel_binding', 'target_session_attrs', 'gssencmode'],
  ...['keepalives', 'schema', 'pgbouncer', 'connection_limit', 'pool_timeout', 'socket_timeout'],
  ...['sslaccept', 'sslidentity'],
];

/**
 * The store of a URL like `postgres://user:password@host:5432/database`, with a pool of its own that `close()` ends.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or a setting is misspelt
 * @throws StoreError when `pg` is not installed
 */
export async function openPostgres(url: string): Promise<DisposableStore> {
  const connectionString = requireServerUrl(url);
  refuseMisspeltSettings(url, SETTINGS);
  const { default: pg } = await loadPg();
  const pool = new pg.Pool({
    connectionTimeoutMillis: DEFAULT_TIMEOUT,
    query_timeout: DEFAULT_TIMEOUT,
    connectionString,
  });
  // The next call replaces an idle connection that breaks, and fails if the server is still away.
  pool.on('error', () => {});
  const timeout = Number(new URL(url).searchParams.get('query_timeout')) || DEFAULT_TIMEOUT;
  return storeOn(pool, { timeout }, { at: addressOf(url, 5432), end: () => pool.end() });
}

async function loadPg() {
  try {
    return await import('pg');
  } catch (error) {
    throw packageError('pg', error);
  }
}
