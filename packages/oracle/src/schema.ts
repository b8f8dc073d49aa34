import { plainText, type SchemaMarker, schemaOf } from 'idsmith/internal/stores';
import type { OracleSession } from './client.js';
import { isFault } from './faults.js';

const READ = `SELECT ''||version AS version, ''||least_reader AS least_reader FROM idsmith_schema`;

// The key lets the table have one row at most.
const CREATE = `CREATE TABLE idsmith_schema (
    id NUMBER(1) NOT NULL PRIMARY KEY,
    version NUMBER(10) NOT NULL,
    least_reader NUMBER(10) NOT NULL
  )`;
const INSERT = 'INSERT INTO idsmith_schema (id, version, least_reader) VALUES (1, :1, :2)';

/** The marker in Oracle: the one row of `idsmith_schema`. */
export function oracleMarker({ ask, transact }: OracleSession): SchemaMarker {
  return {
    async read() {
      try {
        const [row] = (await ask(READ)).rows;
        if (row === undefined) return undefined;
        const [version, leastReader] = Object.values(row as object).map(plainText);
        return schemaOf(version, leastReader);
      } catch (error) {
        if (isFault(error, 'no table')) return undefined;
        throw error;
      }
    },
    async write({ version, leastReader }) {
      await ask(CREATE).catch((error) => {
        if (!isFault(error, 'done')) throw error;
      });
      await transact((send) => send(INSERT, [String(version), String(leastReader)]));
    },
    isForbidden: (error) => isFault(error, 'forbidden'),
  };
}
