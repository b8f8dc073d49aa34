import {
  type LeaseRecord,
  type LeaseStore,
  leaseRecord,
  onlyInteger,
  plainText,
  requireNamespace,
  type SqlRun,
} from 'idsmith/internal/stores';
import type { OracleSession } from './client.js';
import { isFault } from './faults.js';

const CREATE = `CREATE TABLE idsmith_leases (
    namespace VARCHAR2(255 CHAR) NOT NULL,
    id NUMBER(10) NOT NULL,
    owner VARCHAR2(255 CHAR),
    epoch NUMBER(19) NOT NULL,
    fence NUMBER(19) NOT NULL,
    expires_at NUMBER(19) NOT NULL,
    label VARCHAR2(255 CHAR),
    CONSTRAINT idsmith_leases_key PRIMARY KEY (namespace, id)
  )`;

// In UTC: a local time would be ambiguous in the hour when summer time ends.
const NOW = `SELECT ''||(EXTRACT(DAY FROM d) * 86400000 + EXTRACT(HOUR FROM d) * 3600000
    + EXTRACT(MINUTE FROM d) * 60000 + TRUNC(EXTRACT(SECOND FROM d) * 1000)) AS ms
  FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS d FROM dual)`;

const LIST = `SELECT ''||id AS id, owner, ''||epoch AS epoch, ''||fence AS fence, ''||expires_at AS expires_at, label
  FROM idsmith_leases WHERE namespace = :1`;
const READ = `${LIST} AND (id < 0 OR id >= :2 AND id < :3)`;
const ONE = `${LIST} AND id = :2`;

const INSERT = `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  VALUES (:1, :2, :3, :4, :5, :6, :7)`;
const UPDATE = `UPDATE idsmith_leases SET owner = :1, epoch = :2, fence = :3, expires_at = :4, label = :5
  WHERE namespace = :6 AND id = :7`;

/** Leases in Oracle: a row of `idsmith_leases` for each node id. */
export function oracleLeases(
  run: SqlRun,
  { ask, transact }: OracleSession,
): Required<Pick<LeaseStore, 'now' | 'namespaces' | 'listLeases' | 'readLeases' | 'swapLease'>> {
  return {
    now: () => run('now', async () => onlyInteger((await ask(NOW)).rows)),

    async namespaces() {
      const { rows } = await run('namespaces', () => ask('SELECT DISTINCT namespace FROM idsmith_leases'));
      return rows.map((row) => plainText(Object.values(row as object)[0])).sort();
    },

    async listLeases(namespace) {
      requireNamespace(namespace);
      return run('listing leases', async () => (await ask(LIST, [namespace])).rows.map(recordOf));
    },

    async readLeases(namespace, first, count) {
      const values = [requireNamespace(namespace), String(first), String(first + count)];
      return run('reading leases', async () => (await ask(READ, values)).rows.map(recordOf));
    },

    async swapLease(namespace, expected, next) {
      const { owner, epoch, fence, expiresAt, label } = next;
      const key = [requireNamespace(namespace), String(next.id)];
      const values = [owner, String(epoch), String(fence), String(expiresAt), label, ...key];
      return run('changing a lease', async () => {
        try {
          return await transact(async (send, wait) => {
            if (expected !== undefined) {
              const { rows } = await send(`${ONE} FOR UPDATE WAIT ${wait}`, key);
              if (!isSame(rows[0] === undefined ? undefined : recordOf(rows[0]), expected)) return false;
            }
            await send(expected === undefined ? INSERT : UPDATE, values);
            return true;
          });
        } catch (error) {
          if (expected === undefined && isFault(error, 'duplicate')) return false;
          throw error;
        }
      });
    },
  };
}

/** Marks the schema and creates `idsmith_leases`, unless the table exists. */
export async function createLeaseTable({ ask }: OracleSession, mark: () => Promise<void>): Promise<void> {
  try {
    await ask('SELECT id FROM idsmith_leases WHERE 1 = 0');
  } catch (error) {
    if (!isFault(error, 'no table')) throw error;
    await mark();
    await ask(CREATE).catch((problem) => {
      if (!isFault(problem, 'done')) throw problem;
    });
  }
}

/** The record of a row. Oracle keeps an empty text as null. */
function recordOf(row: unknown): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt, label] = Object.values(row as object);
  return leaseRecord([id, owner, epoch, fence, expiresAt, label ?? '']);
}

/** Tells whether a record is the expected one. The label does not count. */
function isSame(record: LeaseRecord | undefined, expected: LeaseRecord): boolean {
  return (
    record?.owner === expected.owner &&
    record.epoch === expected.epoch &&
    record.fence === expected.fence &&
    record.expiresAt === expected.expiresAt
  );
}
