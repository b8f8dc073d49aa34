import { call, type Foreign, hasMethods, isForeign } from '../../drivers/driver.js';
import type { SqlValue } from '../../drivers/port.js';
import { libsqlClient } from '../../drivers/sqlite.js';
import { InvalidOptionError } from '../../errors.js';
import { refuse } from '../../options.js';
import { loadPackage } from '../../support/load-package.js';
import type { DriverError } from '../../support/store-error.js';
import type { OwnClient } from '../make-store.js';
import { executorOf } from '../sql/session.js';
import { type RemoteSqliteOptions, remoteSqliteStore } from '../sqlite/remote.js';
import { CREATE_SCHEMA } from '../sqlite/tables.js';
import type { DisposableStore, SqlAccess } from '../store.js';
import { requireServerUrl, requireSettings } from '../url.js';

/** The part of a client of `@libsql/client` that the store uses. */
export interface LibsqlClient {
  execute(statement: never): Promise<{ columns: string[]; rows: unknown[] }>;
  batch(statements: never[], mode?: 'write'): Promise<unknown[]>;
  transaction(mode: 'write'): Promise<unknown>;
  readonly protocol: string;
}

/** The answer of a primary whose file is in use, also by way of a replica, which has a code of its own (`PROXY_ERROR`). Nothing was done. */
const LOCKED = /database( table)? is locked/;

/** Failures of the connection: a change may have been made. */
const LOST = /fetch failed|socket|ECONNRESET|WEBSOCKET|connection|stream/i;

/**
 * A store in libSQL on a server, such as Turso: `libsqlStore(createClient({ url, authToken }))`. The first use creates the tables
 * `idsmith_leases`, `id_sequences` and `idsmith_schema`. Queries go to the primary, not to a replica.
 *
 * @throws InvalidOptionError if `client` is not a client of `@libsql/client`, or is one of a file or of a replica in a file
 */
export function libsqlStore(client: LibsqlClient, options: RemoteSqliteOptions = {}): DisposableStore {
  return storeOn(client, options);
}

type CreateClient = (config: { url: string; authToken?: string }) => LibsqlClient & { close(): void };

/**
 * The store of a URL like `libsql://name-org.turso.io?authToken=…`, with a client of its own that `close()` ends. `tls=0` is for a
 * server without encryption.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or has another setting
 * @throws StoreError when `@libsql/client` is not installed
 */
export async function openLibsql(url: string): Promise<DisposableStore> {
  const { searchParams, host, pathname, username } = new URL(requireServerUrl(url));
  requireSettings('the settings of the URL', searchParams, ['authToken', 'tls']);
  if (host === '' || username !== '')
    refuse('url', 'libsql://host?authToken=…, without a user', `libsql://${host}`);
  const authToken = searchParams.get('authToken');
  const tls = searchParams.get('tls');
  // Not a literal in the import, and so not part of a bundle: there, give libsqlStore() a client.
  const name = '@libsql/client';
  const { createClient } = await loadPackage<{ createClient: CreateClient }>(name, () => import(name));
  const client = createClient({
    url: `libsql://${host}${pathname}${tls === null ? '' : `?tls=${tls}`}`,
    ...(authToken !== null && { authToken }),
  });
  return storeOn(client, {}, { at: host, end: () => client.close() });
}

/** A store on a client, for `libsqlStore` and `openLibsql`. */
function storeOn(client: LibsqlClient, options: RemoteSqliteOptions, own?: OwnClient): DisposableStore {
  const foreign = client as unknown as Foreign;
  const driver = isForeign(client) ? libsqlClient(foreign) : undefined;
  if (driver === undefined || !hasMethods(client, 'transaction'))
    return refuse('client', 'a client of @libsql/client', client);
  if (client.protocol === 'file')
    throw new InvalidOptionError(
      'client must be connected to a server: this one has a file, which may be a replica with old leases (syncUrl). Give createClient ' +
        'the URL of the server, or take sqliteStore for a file',
    );
  const transact: SqlAccess['transact'] = async (work) => {
    const transaction = (await call(foreign, 'transaction', 'write')) as Foreign;
    const { query } = libsqlClient(transaction) as NonNullable<ReturnType<typeof libsqlClient>>;
    try {
      // As in onPrimary: from here on, the transaction is one of the primary.
      await query(CREATE_SCHEMA, []);
      const result = await work(executorOf('sqlite', query, true));
      await call(transaction, 'commit');
      return result;
    } finally {
      // Rolls back what was not committed.
      call(transaction, 'close');
    }
  };
  return remoteSqliteStore(
    {
      kind: 'libsql',
      query: (sql, values) =>
        sql.startsWith('SELECT') ? onPrimary(foreign, sql, values) : driver.query(sql, values),
      isTransient: ({ message }) => LOCKED.test(`${message}`),
      isLost: ({ code, message }: DriverError) => LOST.test(`${code} ${message}`),
      transact,
    },
    options,
    own,
  );
}

/**
 * Runs a query on the primary. A replica answers from its own copy whatever only reads, also in a transaction that may write. So a statement
 * that would write goes first. It finds its table, and changes nothing.
 */
async function onPrimary(client: Foreign, sql: string, args: readonly SqlValue[]): Promise<unknown[]> {
  const answers = (await call(client, 'batch', [CREATE_SCHEMA, { sql, args }], 'write')) as {
    rows: ArrayLike<unknown>[];
  }[];
  return (answers[1]?.rows ?? []).map((row) => Array.from(row));
}
