import { createPool, type Pool, type PoolConnection } from 'mysql2/promise';
import type { OracleStoreConnection, OracleStorePool } from '../../src/client.ts';

/** Errors of MariaDB, by the errors of Oracle that they stand for. */
const ERRORS = new Map([
  [1062, 1],
  [1146, 942],
  [1054, 904],
  [1050, 955],
  [1060, 1430],
  [1205, 30006],
  [1142, 1031],
  [1213, 60],
]);

/** The session that a connection of Oracle has. */
const SESSION = [
  `SET sql_mode = 'ORACLE,STRICT_ALL_TABLES'`,
  'SET autocommit = 0',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

/** Parts of statements that MariaDB's Oracle mode does not understand. Everything else is sent as it is. */
function translated(sql: string): string {
  if (sql.includes('SYSTIMESTAMP'))
    return `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS ms`;
  return sql.replaceAll('(255 CHAR)', '(255)');
}

/**
 * A pool of `oracledb`, as far as the store uses it, on MariaDB in its Oracle mode: placeholders, types, invisible columns, locks
 * and transactions are MariaDB's own.
 */
export function oracleModePool(
  url: string,
): OracleStorePool & { statements: string[]; end(): Promise<void> } {
  const pool = createPool({ uri: url, connectionLimit: 30 });
  const statements: string[] = [];
  return {
    statements,
    getConnection: () => connect(pool, statements),
    end: () => pool.end(),
  };
}

async function connect(pool: Pool, statements: string[]): Promise<OracleStoreConnection> {
  const connection = await pool.getConnection();
  for (const statement of SESSION) await connection.query(statement);
  return {
    async execute(sql, binds) {
      statements.push(sql);
      try {
        const [result] = await connection.execute(translated(sql), binds);
        return Array.isArray(result) ? { rows: result } : { rowsAffected: result.affectedRows };
      } catch (error) {
        const errorNum = ERRORS.get((error as { errno?: number }).errno ?? 0);
        throw Object.assign(error as Error, { errorNum });
      }
    },
    commit: () => connection.commit(),
    rollback: () => connection.rollback(),
    close: (options) => giveBack(connection, options?.drop ?? false),
  };
}

/** Gives a connection back. As `oracledb` does, this undoes what was not committed. */
async function giveBack(connection: PoolConnection, drop: boolean): Promise<void> {
  if (drop) return connection.destroy();
  await connection.rollback();
  connection.release();
}
