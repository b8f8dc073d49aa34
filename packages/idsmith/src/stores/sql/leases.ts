import { requireNamespace, requireTrial } from '../../lease/namespace.js';
import type { LeaseRecord, LeaseStore } from '../../lease/port.js';
import { leaseRecord } from './lease-row.js';
import type { RunStatement } from './statement.js';
import { onlyInteger } from './values.js';

/**
 * The statements on `idsmith_leases`. Columns are in the order of a record's fields, and values in this one: owner, epoch, fence,
 * expires_at, label, namespace, id, then the expected owner, epoch, fence and expires_at.
 */
interface LeaseStatements {
  /** The time of the database, ms. */
  readonly now: string;
  /** Values: the namespace. */
  readonly list: string;
  /** The negative ids, and a range of others. Values: the namespace twice, the first id and the end. */
  readonly read: string;
  /** Gives one row, or none if the id has a record. */
  readonly insert: string;
  /** Gives one row, or none if the record is not the expected one. */
  readonly update: string;
  readonly remove: string;
}

/**
 * Leases in an SQL database: a row of `idsmith_leases` for each node id.
 *
 * @param text text as it is sent
 */
export function sqlLeases(
  run: RunStatement,
  statements: LeaseStatements,
  text = (value: string) => value,
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease' | 'removeTrial'>> {
  const { now, list, read, insert, update, remove } = statements;
  const records = (rows: readonly unknown[]) => rows.map(leaseRecord);
  const stateOf = ({ owner, epoch, fence, expiresAt }: LeaseRecord) => [
    owner === null ? null : text(owner),
    ...[epoch, fence, expiresAt].map(String),
  ];
  return {
    now: () => run('now', () => ({ sql: now, values: [] }), onlyInteger),

    async listLeases(namespace) {
      const values = [text(requireNamespace(namespace))];
      return run('listLeases', () => ({ sql: list, values }), records);
    },

    async readLeases(namespace, first, count) {
      const name = text(requireNamespace(namespace));
      const values = [name, name, String(first), String(first + count)];
      return run('readLeases', () => ({ sql: read, values }), records);
    },

    async swapLease(namespace, expected, next) {
      const name = text(requireNamespace(namespace));
      const values = [...stateOf(next), text(next.label), name, String(next.id)];
      if (expected) values.push(...stateOf(expected));
      const sql = expected ? update : insert;
      return run(
        'swapLease',
        () => ({ sql, values }),
        (rows) => rows.length === 1,
      );
    },

    async removeTrial(namespace) {
      const values = [text(requireTrial(namespace))];
      await run(
        'removeTrial',
        () => ({ sql: remove, values }),
        () => {},
      );
    },
  };
}
