import type { SqlValue } from '../../executor/port.js';

/** A statement and its values. */
export interface Statement {
  readonly sql: string;
  readonly values: SqlValue[];
}

/** Runs a statement, which is built after the table is set up, and converts its rows with `make`. Messages name `what`. */
export type RunStatement = <T>(
  what: string,
  build: () => Statement,
  make: (rows: readonly unknown[]) => T,
) => Promise<T>;
