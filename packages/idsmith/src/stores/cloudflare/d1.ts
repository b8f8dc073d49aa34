import { hasMethods } from '../../drivers/driver.js';
import { InvalidOptionError } from '../../errors.js';
import { refuse } from '../../options.js';
import { type RemoteSqliteOptions, remoteSqliteStore } from '../sqlite/remote.js';
import type { DisposableStore } from '../store.js';

/** The part of a D1 binding that the store uses. */
export interface D1Binding {
  prepare(sql: string): { bind(...values: never[]): { all(): Promise<{ results: unknown[] }> } };
}

type Prepare = (sql: string) => { bind(...values: unknown[]): { all(): Promise<{ results: unknown[] }> } };

/** Messages of D1 for a request that was not run: it waited too long in line, or the line was too long. */
const NOT_RUN = /overloaded|too many requests queued/i;
/** Messages of D1 for a request whose outcome is unknown. */
const LOST = /network connection lost|transient|was reset|object to be reset|internal error/i;

/**
 * A store in a D1 database: `d1Store(env.DB)`. The first use creates the tables `idsmith_leases`, `id_sequences` and `idsmith_schema`.
 * Every statement goes to the primary.
 *
 * @throws InvalidOptionError if `db` is not a D1 binding, or is a session, which may read from a replica
 */
export function d1Store(db: D1Binding, options: RemoteSqliteOptions = {}): DisposableStore {
  if (hasMethods(db, 'getBookmark'))
    throw new InvalidOptionError(
      'db must be the binding itself, env.DB: a session from withSession() may read from a replica, which tells old leases',
    );
  if (!hasMethods(db, 'prepare', 'batch')) refuse('db', 'a D1 binding, such as env.DB', db);
  const prepare: Prepare = (sql) => (db as D1Binding).prepare(sql) as ReturnType<Prepare>;
  return remoteSqliteStore(
    {
      kind: 'd1',
      query: async (sql, values) =>
        (
          await prepare(sql)
            .bind(...values)
            .all()
        ).results,
      isTransient: ({ message }) => NOT_RUN.test(String(message)),
      isLost: ({ message }) => LOST.test(String(message)),
    },
    options,
  );
}
