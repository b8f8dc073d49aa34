import type { Ceiling } from '../../lineage/ceiling.js';
import type { CeilingRecords } from '../../sequence/past.js';
import { type Dialect, type RunStatement, type Statement, Values } from './dialect.js';
import type { SqlLineage } from './lineage.js';
import { exactBigInt, exactInteger, plainText } from './values.js';

// The table `idsmith_pasts`, beside `id_sequences`: what the store remembers of a sequence to continue it after a loss. Ceilings are texts:
// the ceiling of a sequence that is nearly over does not fit into 64 bits.

const COLUMNS = ['lineage', 'ceiling', 'matured', 'base', 'written_at'] as const;

/** The statement that creates the table. */
export const createPasts = ({ bytes, options }: Dialect['types']) =>
  `CREATE TABLE IF NOT EXISTS idsmith_pasts (name ${bytes} NOT NULL PRIMARY KEY, lineage ${bytes} NOT NULL, ` +
  `ceiling ${bytes} NOT NULL, matured ${bytes} NOT NULL, base ${bytes} NOT NULL, written_at BIGINT NOT NULL)${options}`;

/** The warning for a user who may not create or use the table. */
export const pastsMissing = (create: string) =>
  'sequences cannot continue after a loss of the last writes, because this user may not use the table idsmith_pasts. Let another user run: ' +
  `${create}; and grant SELECT, INSERT, UPDATE and DELETE on it`;

/** The records of sequences in `idsmith_pasts`. */
export function sqlPasts(
  dialect: Dialect,
  run: RunStatement,
  lineage: SqlLineage,
  maxJump: number | undefined,
): CeilingRecords & { remove(name: string): Promise<void> } {
  const { asText, outsideTransaction, clock } = dialect;
  const outside = outsideTransaction && ` AND ${outsideTransaction}`;

  /** The columns of a record with their values. */
  const pairs = (values: Values, past: Ceiling) =>
    [
      ['lineage', values.bytes(past.lineage)],
      ['ceiling', values.bytes(String(past.ceiling))],
      ['matured', values.bytes(String(past.matured))],
      ['base', values.bytes(String(past.base))],
      ['written_at', values.integer(past.writtenAt)],
    ] as const;

  function insert(name: string, next: Ceiling): Statement {
    const values = new Values(dialect);
    const list = [values.bytes(name), ...pairs(values, next).map(([, value]) => value)].join(', ');
    const condition = `${outsideTransaction || '1 = 1'}${lineage.isStill(values, next.lineage)}`;
    const sql = `INSERT INTO idsmith_pasts (name, ${COLUMNS.join(', ')}) ${dialect.row(list, condition)}${dialect.inserted}`;
    return { sql, values: values.all };
  }

  function update(name: string, expected: Ceiling, next: Ceiling): Statement {
    const values = new Values(dialect);
    const equals = (past: Ceiling) => pairs(values, past).map((pair) => pair.join(' = '));
    const sql = `UPDATE idsmith_pasts SET ${equals(next).join(', ')}
      WHERE name = ${values.bytes(name)} AND ${equals(expected).join(' AND ')}${lineage.isStill(values, next.lineage)}${
        outside
      }${dialect.returning}`;
    return { sql, values: values.all };
  }

  return {
    hasCeilings: true,
    ...(maxJump !== undefined && { maxJump }),

    read(name) {
      const build = () => {
        const now = `SELECT ${clock} AS now`;
        if (!lineage.isTold) return { sql: now, values: [] };
        const values = new Values(dialect);
        const sql = `${now}, ${lineage.column}, p.lineage AS recorded, p.ceiling AS ceiling, p.matured AS matured, p.base AS base,
          ${asText('p.written_at')} AS written_at
          FROM (SELECT 1 AS one) moment LEFT JOIN idsmith_pasts p ON p.name = ${values.bytes(name)}`;
        return { sql, values: values.all };
      };
      return run('reading the past of a sequence', build, ([row]) => {
        const [now, present, ...past] = Object.values(row as object);
        return { now: exactInteger('now', now), lineage: lineage.read(present), past: pastOf(past) };
      });
    },

    write(name, expected, next) {
      const build = () => (expected === undefined ? insert(name, next) : update(name, expected, next));
      return run('writing the ceiling of a sequence', build, (rows) => rows.length === 1);
    },

    async remove(name) {
      if (!lineage.isTold) return;
      const values = new Values(dialect);
      const sql = `DELETE FROM idsmith_pasts WHERE name = ${values.bytes(name)}${outside}${dialect.returning}`;
      await run(
        'removing the past of a sequence',
        () => ({ sql, values: values.all }),
        () => {},
      );
    },
  };
}

function pastOf([lineage, ceiling, matured, base, writtenAt]: readonly unknown[]): Ceiling | undefined {
  if (lineage === null || lineage === undefined) return undefined;
  return {
    lineage: plainText(lineage),
    ceiling: exactBigInt('ceiling', ceiling),
    matured: exactBigInt('matured', matured),
    base: exactBigInt('base', base),
    writtenAt: exactInteger('written_at', writtenAt),
  };
}
