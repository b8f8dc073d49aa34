import { requireNamespace, requireTrial, STORE_NAMESPACE } from '../../lease/namespace.js';
import type { LeaseRecord, LeaseStore } from '../../lease/port.js';
import { lineageOf, NAMESPACE_ID } from '../../lease/protocol.js';
import { type Dialect, type RunStatement, type Statement, Values } from './dialect.js';
import type { SqlLineage } from './lineage.js';
import { exactInteger, onlyInteger, plainText } from './values.js';

type SqlLeases = Required<
  Pick<LeaseStore, 'now' | 'namespaces' | 'listLeases' | 'readLeases' | 'swapLease' | 'removeTrial'>
> &
  Pick<LeaseStore, 'moment' | 'claimLease'>;

/**
 * Leases in an SQL database: a row of `idsmith_leases` for each node id.
 *
 * @param lineage tells the lineage of the database, if anything can
 */
export function sqlLeases(dialect: Dialect, run: RunStatement, lineage?: SqlLineage): SqlLeases {
  const { asText, decoded, outsideTransaction } = dialect;
  const numbers = ['epoch', 'fence', 'expires_at'].map((column) => `${asText(column)} AS ${column}`);
  // The columns in the order of a record's fields.
  const select = `SELECT ${asText('id')} AS id, owner, ${numbers.join(', ')}, ${decoded('label')} AS label
    FROM idsmith_leases WHERE namespace = `;
  /** The condition of an update, which is checked again on the row that another update has left. */
  const sameState = (values: Values, { owner, epoch, fence, expiresAt }: LeaseRecord) => {
    const state = `${dialect.same('owner', values.bytes(owner))} AND epoch = ${values.integer(epoch)}
      AND fence = ${values.integer(fence)} AND expires_at = ${values.integer(expiresAt)}`;
    return outsideTransaction === '' ? state : `${state} AND ${outsideTransaction}`;
  };
  const isOne = (rows: readonly unknown[]) => rows.length === 1;
  const names = (rows: readonly unknown[]) =>
    rows
      .map((row) => plainText(Object.values(row as object)[0]))
      .filter((name) => name !== STORE_NAMESPACE)
      .sort();
  const records = (rows: readonly unknown[]) => rows.map(leaseRecord);

  /** Conditions with values of their own, to go after others. */
  type Condition = (values: Values) => string;

  function swap(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    conditions: Condition,
  ): Statement {
    const values = new Values(dialect);
    const columns = assignments(values, next);
    const key = [
      ['namespace', values.bytes(requireNamespace(namespace))],
      ['id', values.integer(next.id)],
    ] as const;
    const sql = expected
      ? `UPDATE idsmith_leases SET ${columns.map((pair) => pair.join(' = ')).join(', ')}${dialect.touched}
          WHERE ${key.map((pair) => pair.join(' = ')).join(' AND ')} AND ${sameState(values, expected)}${conditions(
            values,
          )}${dialect.returning}`
      : `INSERT INTO idsmith_leases (${[...columns, ...key].map(([column]) => column).join(', ')})
          ${dialect.row(
            [...columns, ...key].map(([, value]) => value).join(', '),
            allOf(outsideTransaction, conditions(values)),
          )}${dialect.inserted}`;
    return { sql, values: values.all };
  }

  /** The condition that the birth record of the namespace is still the same. MySQL changes no table that it also reads, except by a copy. */
  const isBorn = (values: Values, namespace: string, birth: LeaseRecord) =>
    ` AND EXISTS (SELECT 1 FROM (SELECT id FROM idsmith_leases WHERE namespace = ${values.bytes(namespace)}
      AND id = ${NAMESPACE_ID} AND ${sameState(values, birth)} LIMIT 1${dialect.forShare}) birth)`;

  return {
    now: () => run('now', () => ({ sql: `SELECT ${dialect.clock} AS now`, values: [] }), onlyInteger),

    ...(lineage && {
      moment: () =>
        run(
          'moment',
          () => ({ sql: `SELECT ${dialect.clock} AS now, ${lineage.column}`, values: [] }),
          ([row]) => {
            const [now, told] = Object.values(row as object);
            return { now: exactInteger('now', now), lineage: lineage.read(told) };
          },
        ),

      claimLease: async (namespace, expected, next, birth) =>
        run(
          'claimLease',
          () =>
            swap(
              namespace,
              expected,
              next,
              (values) => isBorn(values, namespace, birth) + lineage.isStill(values, lineageOf(birth)),
            ),
          isOne,
        ),
    }),

    async namespaces() {
      const sql = 'SELECT DISTINCT namespace FROM idsmith_leases';
      return run('namespaces', () => ({ sql, values: [] }), names);
    },

    async listLeases(namespace) {
      const values = new Values(dialect);
      const sql = select + values.bytes(requireNamespace(namespace));
      return run('listing leases', () => ({ sql, values: values.all }), records);
    },

    async readLeases(namespace, first, count) {
      const values = new Values(dialect);
      const listed = () => select + values.bytes(requireNamespace(namespace));
      // Two ranges of the primary key. With OR, the whole namespace might be read.
      const sql = `${listed()} AND id < 0 UNION ALL ${listed()} AND id >= ${values.integer(first)}
        AND id < ${values.integer(first + count)}`;
      return run('reading leases', () => ({ sql, values: values.all }), records);
    },

    async swapLease(namespace, expected, next) {
      const isStill: Condition = (values) =>
        (next.id === NAMESPACE_ID ? lineage?.isStill(values, lineageOf(next)) : lineage?.isLatest) ?? '';
      return run('changing a lease', () => swap(namespace, expected, next, isStill), isOne);
    },

    async removeTrial(namespace) {
      const values = new Values(dialect);
      // A rollback would bring back nothing but records of a trial.
      const sql = `DELETE FROM idsmith_leases WHERE namespace = ${values.bytes(requireTrial(namespace))}`;
      await run(
        'removeTrial',
        () => ({ sql, values: values.all }),
        () => {},
      );
    },
  };
}

/** A condition without the word that begins the second part. */
const allOf = (first: string, second: string) =>
  first === '' ? second.replace(/^ AND /, '') : first + second;

/** The columns of a record that a swap sets, and the expressions of their values. */
function assignments(values: Values, { owner, epoch, fence, expiresAt, label }: LeaseRecord) {
  return [
    ['owner', values.bytes(owner)],
    ['epoch', values.integer(epoch)],
    ['fence', values.integer(fence)],
    ['expires_at', values.integer(expiresAt)],
    ['label', values.text(label)],
  ] as const;
}

/** The lease record of a row whose columns are in the order of the record's fields. Names and types do not matter. */
export function leaseRecord(row: unknown): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt, label] = Object.values(row as object);
  return {
    id: exactInteger('id', id),
    owner: owner === null ? null : plainText(owner),
    epoch: exactInteger('epoch', epoch),
    fence: exactInteger('fence', fence),
    expiresAt: exactInteger('expires_at', expiresAt),
    label: plainText(label),
  };
}
