import type { SqlValue } from '../../drivers/port.js';
import { requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import type { DriverError } from '../../support/store-error.js';
import { requireTimeout, withTimeout } from '../../support/timeout.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate, type SchemaMarker, schemaOf } from '../schema-version.js';
import { type RunStatement, sqlite } from '../sql/dialect.js';
import { sqlLeases } from '../sql/leases.js';
import { SqlLineage } from '../sql/lineage.js';
import { createPasts } from '../sql/pasts.js';
import { sqlRows } from '../sql/sequences.js';
import { isMissingTable, type SqlRun, sqlRunner } from '../sql/session.js';
import { additions, createTable } from '../sql/table.js';
import { plainText } from '../sql/values.js';
import type { DisposableStore, SqlAccess } from '../store.js';
import { isBusy } from './lock-watch.js';
import { CREATE_LEASES, MARK, READ_MARKER } from './tables.js';

// SQLite on a server: D1, a Durable Object, libSQL. Every change is one statement that compares and sets, so one statement at a time is
// enough. Nothing is asked with PRAGMA, which these servers refuse.

/** Options of a store in a SQLite on a server. */
export interface RemoteSqliteOptions {
  /** The longest time for a statement, ms. Default 10,000. */
  readonly timeout?: number;
}

/** A SQLite on a server, as a store uses it. */
export interface RemoteSqlite {
  readonly kind: 'd1' | 'durable-object' | 'libsql';
  /** Runs one statement, as a transaction of its own on the primary, and gives its rows. */
  query(sql: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;
  /** Tells whether a statement that failed with this error had no effect, and may succeed when it is repeated. */
  isTransient(error: DriverError): boolean;
  /** Tells whether a query that failed with this error may succeed when it is repeated. Its answer may have been lost. */
  isLost(error: DriverError): boolean;
  /** Work that must be one transaction, where the server has such transactions. */
  transact?: SqlAccess['transact'];
}

/** A query without an answer, which may be sent again. */
class LostQuery extends Error {
  constructor(cause: unknown) {
    super((cause as Error)?.message, { cause });
  }
}

/** A store on a SQLite server. */
export function remoteSqliteStore(
  server: RemoteSqlite,
  options: RemoteSqliteOptions,
  own?: OwnClient,
): DisposableStore {
  const timeout = requireTimeout(requireKnown('options', options, ['timeout']).timeout, 10_000);
  const { kind } = server;
  const ask = (sql: string, values: readonly SqlValue[] = []) =>
    withTimeout(server.query(sql, values), timeout);
  const schema = new SchemaGate(kind, markerOf(ask));

  /** A runner of operations. `setUp` runs before the first one, and again only after a failure. */
  const runner = (setUp: () => Promise<unknown>): SqlRun =>
    sqlRunner({
      name: kind,
      at: own?.at,
      setUp: async () => {
        await setUp();
      },
      isTransient: (error) => error instanceof LostQuery || isBusy(error) || server.isTransient(error),
    });
  const statements = (setUp: () => Promise<unknown>): RunStatement => {
    const run = runner(setUp);
    return (what, build, make) =>
      run(what, async () => {
        const { sql, values } = build();
        try {
          return make(await ask(sql, values));
        } catch (error) {
          // A change whose answer was lost may have been made. Its caller has to look.
          if (sql.startsWith('SELECT') && server.isLost(error as DriverError)) throw new LostQuery(error);
          throw error;
        }
      });
  };

  const admit = () => schema.admit();
  const makeTable = async (statement: string) => {
    await schema.mark();
    await ask(statement);
  };
  const leases = statements(async () => {
    await admit();
    if ((await creationOf(ask, 'idsmith_leases')) === undefined) await makeTable(CREATE_LEASES);
  });
  const sequences = statements(async () => {
    await admit();
    const found = await creationOf(ask, 'id_sequences');
    if (found === undefined) await makeTable(createTable(sqlite.types));
    else
      for (const addition of additions(columnsIn(found), sqlite.types)) await addColumn(makeTable, addition);
    if ((await creationOf(ask, 'idsmith_pasts')) === undefined) await makeTable(createPasts(sqlite.types));
  });
  // Nothing that such a server tells changes with a restore. Under a lineage that stays the same, sequences have ceilings, beyond which they go
  // on when a person says that the database was restored.
  const lineage = new SqlLineage(() => `'${kind}'`);
  const alone = runner(admit);
  const { transact } = server;
  const sql: SqlAccess | undefined = transact && {
    lineage: lineage.expression,
    outside: {
      dialect: 'sqlite',
      query: async (text, values = []) =>
        (await alone('a statement of a series', () => ask(text, values))) as Record<string, unknown>[],
      inTransaction: async () => false,
    },
    transact: async (work) => {
      await admit();
      return transact(work);
    },
  };
  return makeStore(
    kind,
    {
      ...sqlLeases(sqlite, leases, lineage),
      ...sequenceStore(sqlRows(sqlite, { run: sequences, lineage })),
      schemaVersion: () => alone('schemaVersion', admit),
      durable: true,
      // Whoever says that the database was restored names the longest ttl.
      usualTtl: LONGEST_TTL,
      ...(sql && { sql }),
    },
    own,
  );
}

/** The longest ttl of any lease, ms. */
const LONGEST_TTL = 86_400_000;

type AskServer = (sql: string, values?: readonly SqlValue[]) => Promise<readonly unknown[]>;

/** The statement that has created a table; `undefined` if there is no such table. */
async function creationOf(ask: AskServer, table: string): Promise<string | undefined> {
  const [row] = await ask(`SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?`, [table]);
  return row === undefined ? undefined : plainText(Object.values(row as object)[0]);
}

/** A row for each column in the statement that has created a table. SQLite writes columns that are added later to its end. */
function columnsIn(definition: string): { name: string }[] {
  return [...definition.matchAll(/[(,]\s*["'`[]?(\w+)/g)].map(([, name]) => ({ name: name as string }));
}

async function addColumn(makeTable: (sql: string) => Promise<void>, addition: string): Promise<void> {
  try {
    await makeTable(`ALTER TABLE id_sequences ${addition}`);
  } catch (error) {
    // Another process was quicker.
    if (!/duplicate column/i.test(String((error as Error)?.message))) throw error;
  }
}

/** The marker of a database: the one row of `idsmith_schema`. */
function markerOf(ask: AskServer): SchemaMarker {
  return {
    async read() {
      try {
        const [row] = await ask(READ_MARKER);
        if (row === undefined) return undefined;
        const [version, leastReader] = Object.values(row as object).map(plainText);
        return schemaOf(version, leastReader);
      } catch (error) {
        if (isMissingTable(error)) return undefined;
        throw error;
      }
    },
    async write() {
      for (const statement of MARK) await ask(statement);
    },
    isForbidden: () => false,
  };
}
