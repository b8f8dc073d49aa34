import { refuse, StoreError, show } from 'idsmith/internal';
import {
  atAnyTime,
  type BlockSource,
  type Borrowed,
  type NativeSequenceOptions,
  nativeSource,
  onPooledConnection,
  sequenceNameOf,
} from 'idsmith/internal/stores';
import { checkOut } from './client.js';
import { findOracleSequence, type OracleQuery, type OracleSequence, parseOracleName } from './names.js';

/** The used part of a `Connection` of the package `oracledb`. */
export interface OracleConnection {
  execute(sql: string, binds: unknown[]): Promise<{ rows?: unknown[] | undefined }>;
}

/** The used part of a `Pool` of the package `oracledb`. */
export interface OraclePool {
  getConnection(): Promise<OracleConnection & { close(options?: { drop: boolean }): Promise<void> }>;
}

/**
 * A sequence of Oracle as a source of blocks: INCREMENT BY is the block size, MAXVALUE the end. The name may be that of a
 * synonym, private or public.
 *
 * @param client a `Pool` or `Connection` of `oracledb`
 * @throws InvalidOptionError naming the option that is wrong
 *
 * @example
 * // CREATE SEQUENCE orders_seq INCREMENT BY 100
 * const orders = await sequences.get('orders', { source: oracleSequence(pool, 'orders') });
 */
export function oracleSequence(
  client: OraclePool | OracleConnection,
  name: string,
  options: NativeSequenceOptions = {},
): BlockSource {
  const sequenceName = sequenceNameOf(name, options);
  const borrow = borrowFrom(client);
  const selectWithin = (timeout: number) => selectOf(queryOf(borrow, timeout), name, sequenceName, options);
  return nativeSource(name, options, selectWithin, faultOf, ['oracle', client]);
}

/** The function that draws a value, by the options. */
function selectOf(
  query: OracleQuery,
  name: string,
  sequenceName: string,
  { sql, optimizer }: NativeSequenceOptions,
): () => Promise<unknown[][]> {
  if (sql !== undefined) return () => query(sql, []);
  const wanted = parseOracleName(sequenceName);
  // Without blocks the increment is not needed, and Oracle itself finds the sequence.
  if (optimizer === 'none')
    return () => query(`SELECT ''||${sequenceName}.NEXTVAL AS next_value FROM dual`, []);
  let found: OracleSequence | undefined;
  return async () => {
    try {
      const sequence = found ?? (await findOracleSequence(query, wanted));
      const rows = sequence === undefined ? [] : await drawWithIncrement(query, name, sequence);
      // After a failure the name is looked up again: its synonym may stand for another sequence now.
      found = rows.length === 0 ? undefined : sequence;
      return rows;
    } catch (error) {
      found = undefined;
      throw error;
    }
  };
}

/**
 * A value with an increment that surely separates it from its neighbours.
 *
 * Oracle reads its dictionary as of the beginning of a statement, and NEXTVAL as of now. An ALTER SEQUENCE may run in between. So the
 * increment is read again after the value. If the two increments differ, the value belongs to one of them, and a block of the smaller
 * size overlaps no other block.
 */
async function drawWithIncrement(
  query: OracleQuery,
  name: string,
  { owner, name: sequence }: OracleSequence,
): Promise<unknown[][]> {
  // Concatenation with an empty text turns a number into text, which the driver does not round.
  const columns = `''||increment_by AS step, ''||min_value AS lowest, ''||max_value AS highest
    FROM all_sequences WHERE sequence_owner = :1 AND sequence_name = :2`;
  const [drawn] = await query(`SELECT ''||"${owner}"."${sequence}".NEXTVAL AS next_value, ${columns}`, [
    owner,
    sequence,
  ]);
  const [later] = await query(`SELECT ${columns}`, [owner, sequence]);
  if (drawn === undefined || later === undefined) return [];
  const [value, before, ...limits] = drawn;
  return [[value, smaller(name, String(before), String(later[0])), ...limits]];
}

/** The smaller increment. @throws StoreError when they differ in sign; the value is given up */
function smaller(name: string, before: string, after: string): string {
  if (before === after) return before;
  const [was, is] = [BigInt(before), BigInt(after)];
  if (was < 0n !== is < 0n)
    throw new StoreError(
      `sequence ${show(name)}: INCREMENT BY was altered from ${was} to ${is} during the call: try again`,
    );
  return was * was < is * is ? before : after;
}

type Borrow = () => Promise<Borrowed<OracleConnection>>;

function queryOf(borrow: Borrow, timeout: number): OracleQuery {
  return async (sql, binds) => {
    const { rows } = await onPooledConnection(timeout, {
      borrow,
      run: (connection) => connection.execute(sql, binds),
      isUseless: () => false,
    });
    // Rows are arrays or objects, depending on the settings of the driver.
    return (rows ?? []).map((row) => Object.values(row as object));
  };
}

function borrowFrom(client: OraclePool | OracleConnection): Borrow {
  if (typeof (client as OracleConnection)?.execute === 'function')
    return atAnyTime(client as OracleConnection);
  if (typeof (client as OraclePool)?.getConnection !== 'function')
    refuse('client', 'a Pool or Connection of the package oracledb', client);
  return () => checkOut(client as OraclePool);
}

function faultOf(error: unknown): 'exhausted' | 'missing' | undefined {
  const { errorNum } = (error ?? {}) as { errorNum?: unknown };
  // ORA-08004: NEXTVAL exceeds MAXVALUE or MINVALUE. ORA-02289: sequence does not exist.
  if (errorNum === 8004) return 'exhausted';
  return errorNum === 2289 ? 'missing' : undefined;
}
