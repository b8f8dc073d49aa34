import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise';
import type { MysqlClient } from '../../../../src/stores/mysql/session.ts';
import { mysqlStore } from '../../../../src/stores/mysql/store.ts';
import { takeWithPlainSql } from '../../sql/plain-sql-program.ts';
import type { SharedDatabase, UpstreamRow } from '../../support/shared-database.ts';

/** An empty database of MySQL or MariaDB, by its URL. */
export function sharedMysql(uri: string, options: PoolOptions = {}): SharedDatabase {
  const pools: Pool[] = [];
  const newPool = (more: PoolOptions) => {
    pools.push(createPool({ uri, ...more }));
    return pools.at(-1)!;
  };
  const other = newPool({ connectionLimit: 4, supportBigNumbers: true, bigNumberStrings: true });
  let statements = 0;
  return {
    store(connectionLimit = 2) {
      const pool = newPool({ ...options, connectionLimit });
      const counted: MysqlClient = {
        query: (sql, values) => {
          statements++;
          return pool.query(sql, values);
        },
      };
      return mysqlStore(counted);
    },
    statements: () => statements,
    sql: (text) => other.query(text),
    async row(name) {
      const sql = `SELECT CAST(next_block_start AS CHAR) AS next_block_start,
        CAST(block_size AS CHAR) AS block_size, CAST(exhausted AS CHAR) AS exhausted
        FROM id_sequences WHERE name = ?`;
      const [[row]] = await other.query<(UpstreamRow & RowDataPacket)[]>(sql, [name]);
      return row;
    },
    async takeBlockBySql(name, way) {
      const connection = await other.getConnection();
      const ask = async (sql: string) => {
        const [rows] = await connection.query<RowDataPacket[][]>({ sql, rowsAsArray: true });
        return Array.isArray(rows) ? (rows[0] ?? []).map(String) : [];
      };
      const begin = async (isSerializable: boolean) => {
        if (isSerializable) await ask('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
        await ask('BEGIN');
      };
      const isUndone = (error: unknown) => (error as { errno: number }).errno === 1213;
      return takeWithPlainSql({ ask, begin, isUndone }, name, way).finally(() => connection.release());
    },
    close: () => Promise.all(pools.map((pool) => pool.end())),
  };
}
