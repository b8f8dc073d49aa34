import { requireNamespace } from '../../lease/namespace.js';
import { sequenceStore } from '../../sequence/rows.js';
import { loadDriver, ownedStore, refuseSlips, requireServerUrl } from '../driver.js';
import type { Store } from '../memory/store.js';
import {
  type DriverError,
  inTime,
  leaseRecord,
  onlyInteger,
  requireTimeout,
  type SqlStoreOptions,
  sqlRunner,
} from '../sql/runner.js';
import { ALONE, changer } from './connection.js';
import { postgresColumns, postgresRows, setUpPostgresTable } from './sequences.js';

/** What the store needs of a client: a `Pool` or `Client` of `pg` has it. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** A pool of `pg` is known by this. */
  readonly totalCount?: number;
}

/** How a PostgreSQL store behaves. */
export type PostgresStoreOptions = SqlStoreOptions;

/** How long openStore's own pool waits for a connection or an answer, ms, unless the URL says otherwise. */
const PATIENCE = 10_000;

/** What URLs may have after their `?`: settings of `pg`, of libpq, and of a widespread ORM whose URLs are often reused. */
const SETTINGS = [
  ...[
    'host',
    'port',
    'user',
    'password',
    'database',
    'application_name',
    'fallback_application_name',
    'options',
  ],
  ...['query_timeout', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
  ...['connectionTimeoutMillis', 'idleTimeoutMillis', 'max', 'min', 'maxUses', 'maxLifetimeSeconds'],
  ...['allowExitOnIdle', 'keepAlive', 'keepAliveInitialDelayMillis', 'client_encoding', 'encoding', 'binary'],
  ...[
    'ssl',
    'sslmode',
    'sslcert',
    'sslkey',
    'sslrootcert',
    'sslnegotiation',
    'uselibpqcompat',
    'sslcompression',
  ],
  ...['connect_timeout', 'channel_binding', 'target_session_attrs', 'gssencmode', 'keepalives'],
  ...[
    'schema',
    'pgbouncer',
    'connection_limit',
    'pool_timeout',
    'socket_timeout',
    'sslaccept',
    'sslidentity',
  ],
];

const TABLES: Record<string, string> = {
  idsmith_leases: `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace text COLLATE "C" NOT NULL,
    id integer NOT NULL,
    owner text COLLATE "C",
    epoch bigint NOT NULL,
    fence bigint NOT NULL,
    expires_at bigint NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (namespace, id)
  )`,
};

const NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text';

const LIST = `SELECT id::text, owner, epoch::text AS epoch, fence::text AS fence, expires_at::text AS expires_at, label
  FROM idsmith_leases WHERE namespace = $1`;

const INSERT = `INSERT INTO idsmith_leases (namespace, id, owner, epoch, fence, expires_at, label)
  SELECT $1, $2, $3, $4, $5, $6, $7 WHERE ${ALONE} ON CONFLICT DO NOTHING RETURNING id`;

// An update that had to wait for another one looks at the condition again, on the row as that one left it.
const UPDATE = `UPDATE idsmith_leases SET owner = $3, epoch = $4, fence = $5, expires_at = $6, label = $7
  WHERE namespace = $1 AND id = $2
    AND owner IS NOT DISTINCT FROM $8 AND epoch = $9 AND fence = $10 AND expires_at = $11
    AND ${ALONE}
  RETURNING id`;

/** serialization_failure, deadlock_detected: the statement was rolled back. */
const ROLLED_BACK: readonly unknown[] = ['40001', '40P01'];

/** unique_violation, duplicate_table, duplicate_object: what the loser of a race to create a table may see. */
const CREATED_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710'];

/**
 * A store in PostgreSQL. The tables `idsmith_leases` and `id_sequences` are made when leases or sequences are first used,
 * in the first schema of the search path. An `id_sequences` that another program has made gets the columns it lacks.
 *
 * The client stays yours: `close()` does not end it. A `pg.Pool` needs a listener for `'error'`, or the process ends
 * when the server does. A change on a connection that is inside a transaction is refused, because a rollback would undo it.
 *
 * @throws InvalidOptionError if `timeout` is not a number of ms
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): Store {
  const query = queryInTime(client, requireTimeout(options));
  const rowsOf = async (text: string, values: unknown[] = []) => (await query(text, values)).rows;
  const runner = (setUp: () => Promise<void>) =>
    sqlRunner({ name: 'postgres', setUp, isTransient: ({ code }) => ROLLED_BACK.includes(code) });
  const { prepare, change } = changer(rowsOf);
  const run = runner(async () => {
    await prepare();
    await createTables(rowsOf);
  });
  const columns = postgresColumns();
  const runSequences = runner(async () => {
    await prepare();
    await setUpPostgresTable(rowsOf, columns);
  });
  return {
    ...sequenceStore(postgresRows(runSequences, { rowsOf, change, columns })),
    durable: true,

    now: () => run('now', async () => onlyInteger(await rowsOf(NOW))),

    async listLeases(namespace) {
      requireNamespace(namespace);
      return run('listLeases', async () => (await rowsOf(LIST, [namespace])).map(leaseRecord));
    },

    async swapLease(namespace, expected, { id, owner, epoch, fence, expiresAt, label }) {
      const values = [requireNamespace(namespace), id, owner, epoch, fence, expiresAt, label];
      const conditions = expected && [expected.owner, expected.epoch, expected.fence, expected.expiresAt];
      return run('swapLease', async () => {
        const swapped = await (conditions
          ? change(UPDATE, [...values, ...conditions])
          : change(INSERT, values));
        return swapped.length === 1;
      });
    },

    async close() {},
  };
}

function queryInTime(client: PostgresClient, timeout: number): PostgresClient['query'] {
  // Told of the limit, a pool closes the connection that has passed it, and makes another when it needs one.
  const ask = (text: string, values: unknown[]) =>
    client.totalCount === undefined
      ? client.query(text, values)
      : (client as unknown as PgPool).query({ text, values, query_timeout: timeout });
  return (text, values) => inTime(timeout, ask(text, values));
}

interface PgPool {
  query(query: { text: string; values: unknown[]; query_timeout: number }): Promise<{ rows: unknown[] }>;
}

async function createTables(rowsOf: (text: string, values?: unknown[]) => Promise<unknown[]>): Promise<void> {
  for (const [name, definition] of Object.entries(TABLES)) {
    // Asked first, because `CREATE TABLE IF NOT EXISTS` needs the right to create even where there is nothing to do.
    const found = await rowsOf('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [name]);
    if (found.length > 0) continue;
    try {
      await rowsOf(definition);
    } catch (error) {
      if (!CREATED_BY_ANOTHER.includes((error as DriverError).code)) throw error;
    }
  }
}

/**
 * The store on a pool on a `postgres:` URL, for `openStore`.
 *
 * @internal
 */
export async function openPostgres(url: string): Promise<Store> {
  const connectionString = requireServerUrl(url);
  refuseSlips(url, SETTINGS);
  const { default: pg } = await loadDriver('pg', () => import('pg'));
  const pool = new pg.Pool({
    connectionTimeoutMillis: PATIENCE,
    query_timeout: PATIENCE,
    connectionString,
  });
  // An idle connection that breaks is replaced on the next call, which fails if the server is still away.
  pool.on('error', () => {});
  const timeout = Number(new URL(url).searchParams.get('query_timeout')) || PATIENCE;
  return ownedStore(postgresStore(pool, { timeout }), () => pool.end());
}
