import { StoreError } from '../../errors.js';
import { type DriverError, plainText } from '../sql/runner.js';

/** Sends a statement and gives its rows. */
export type RowsOf = (text: string, values?: unknown[]) => Promise<unknown[]>;

/**
 * Holds for a statement that is a transaction of its own: both begin at the same moment. A statement within a transaction that
 * was open before began later. It is true only of a statement that is sent as one message; one with parameters is sent as
 * several, of which the first begins the transaction.
 */
export const ALONE = 'transaction_timestamp() = statement_timestamp()';

const PLACE = `CASE WHEN ${ALONE} THEN 'alone' ELSE 'within' END`;

const SYNTAX_ERROR = '42601';

/** Runs changes so that no rollback of somebody else can undo them. */
export interface Changer {
  /**
   * Learns how the driver sends statements. Comes before tables are made.
   *
   * @throws StoreError within a transaction, whose rollback would undo the tables, too
   */
  prepare(): Promise<void>;
  /**
   * Runs a statement that has {@link ALONE} among its conditions, and gives the rows of its `RETURNING`, which is one column.
   *
   * @throws StoreError within a transaction, where the statement has done nothing
   */
  change(text: string, values: readonly unknown[]): Promise<unknown[]>;
}

/** What runs changes with that function. */
export function changer(rowsOf: RowsOf): Changer {
  let isSingle: Promise<boolean> | undefined;
  const learn = () => {
    isSingle ??= sendsSingleMessages(rowsOf).catch((error) => {
      isSingle = undefined;
      throw error;
    });
    return isSingle;
  };
  return {
    async prepare() {
      if (!(await learn())) return;
      const [row] = await rowsOf(`SELECT ${PLACE} AS place`);
      requireAlone(Object.values(row as object)[0]);
    },
    async change(text, values) {
      if (!(await learn())) return rowsOf(text.replaceAll(ALONE, 'TRUE'), [...values]);
      const [row] = await rowsOf(
        `WITH changed AS (${withLiterals(text, values)})
        SELECT (SELECT * FROM changed) AS answer, ${PLACE} AS place`,
      );
      const [answer, place] = Object.values(row as object);
      requireAlone(place);
      return answer === null ? [] : [[answer]];
    },
  };
}

/** Whether the driver sends a statement without values as one message: only such a message may hold two statements. */
async function sendsSingleMessages(rowsOf: RowsOf): Promise<boolean> {
  try {
    await rowsOf('SELECT 1; SELECT 1');
    return true;
  } catch (error) {
    if ((error as DriverError).code === SYNTAX_ERROR) return false;
    throw error;
  }
}

/**
 * The statement with its values in the place of `$1`, `$2` …
 *
 * @throws RangeError when a value has a NUL, which PostgreSQL's text cannot have
 */
export function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_place, n) => literal(values[Number(n) - 1]));
}

/** A value as SQL writes it, of the type that its place asks for, whatever the server's rules for backslashes. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  const text = String(value);
  if (text.includes('\0')) throw new RangeError('text must not have a NUL character');
  return `E'${text.replace(/['\\]/g, (character) => character + character)}'`;
}

function requireAlone(place: unknown): void {
  if (plainText(place) === 'alone') return;
  throw new StoreError(
    'postgres store: the connection is inside a transaction that somebody has begun, and its rollback would undo what is ' +
      'given out here. End every transaction before its connection goes back to the pool, or give the store a pool of its own',
  );
}
