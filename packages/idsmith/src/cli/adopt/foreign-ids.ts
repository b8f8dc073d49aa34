import type { SqlExecutor } from '../../drivers/port.js';
import { plainText } from '../../stores/sql/values.js';

/** A generator of the database, or of programs beside idsmith, that gives ids to the same column. */
export interface ForeignGenerator {
  /** Its name, for people: `the default nextval('orders_id_seq')`. */
  readonly what: string;
  /** The highest id that it may have given out so far, even if no row has it yet. */
  readonly reached: bigint;
  /** The highest id that it can ever give out; `undefined` if nothing holds it back. */
  readonly end: bigint | undefined;
  /** True if a row that leaves the column out, or a program that asks, still gets an id. */
  readonly isActive: boolean;
  /** Statements that each end the generator, or hold it at `room` and below. */
  readonly ways: (room: bigint) => readonly string[];
}

/** The ids of a column, and everything that still writes into it. */
export interface ForeignIds {
  /** The table and the column as SQL. */
  readonly table: string;
  readonly column: string;
  /** The type of the column. */
  readonly type: string;
  readonly generators: readonly ForeignGenerator[];
}

/** A column to be looked at. */
export interface ColumnName {
  readonly table: string;
  readonly column: string;
  /** The database's own sequence that programs draw from, if the user has named one. */
  readonly native: string | undefined;
}

/** The ways in which databases differ. */
export interface ForeignDialect {
  /** @throws InvalidOptionError when the table, the column or the sequence is not there */
  look(sql: SqlExecutor, name: ColumnName): Promise<ForeignIds>;
  /** Runs `work` while nobody writes into the table. Fails at once if somebody does, with an error that {@link isBusy} knows. */
  locked<T>(sql: SqlExecutor, table: string, work: () => Promise<T>): Promise<T>;
  isBusy(error: unknown): boolean;
  /** An expression as text. */
  text(expression: string): string;
}

/** The values of a row as texts, in the order of its columns. */
export function fieldsOf(row: Record<string, unknown> | undefined): (string | undefined)[] {
  return Object.values(row ?? {}).map((value) =>
    value === null || value === undefined ? undefined : plainText(value),
  );
}

/** A whole number from its text; 0 where there is none. */
export const whole = (text: string | undefined) => BigInt(text ?? '0');
