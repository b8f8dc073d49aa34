import { InvalidOptionError } from '../../errors.js';
import { refuse, show } from '../../options.js';
import type { BlockSource } from '../port.js';
import { type NativeSequenceOptions, nativeSource, sequenceNameOf } from './source.js';

/** What is needed of a `Connection` of the package `oracledb`. */
export interface OracleConnection {
  execute(sql: string, binds: unknown[]): Promise<{ rows?: unknown[] | undefined }>;
}

/** What is needed of a `Pool` of the package `oracledb`. */
export interface OraclePool {
  getConnection(): Promise<OracleConnection & { close(): Promise<void> }>;
}

/**
 * A sequence of Oracle as a source of blocks: INCREMENT BY is the block size, MAXVALUE the end.
 *
 * @param client a `Pool` or `Connection` of `oracledb`
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
  const run = runner(client);
  const sequenceName = sequenceNameOf(name, options);
  const { sql, binds } = options.sql === undefined ? nextOf(sequenceName) : { sql: options.sql, binds: [] };
  const select = async () => (await run(sql, binds)).rows ?? [];
  return nativeSource(name, options, select, faultOf);
}

/** Concatenation with nothing makes text of a number, which the driver then does not round. */
function nextOf(sequenceName: string): { sql: string; binds: string[] } {
  const identifier = '[A-Za-z][\\w$#]{0,127}';
  const [, owner, sequence] = new RegExp(`^(?:(${identifier})\\.)?(${identifier})$`).exec(sequenceName) ?? [];
  if (sequence === undefined)
    throw new InvalidOptionError(
      `sequenceName must be a plain Oracle name, with or without its schema, not ${show(sequenceName)}: ` +
        'for one that needs quotes give the statement as sql',
    );
  const columns = `''||${sequenceName}.NEXTVAL AS next_value, ''||increment_by AS step, ''||min_value AS lowest, ''||max_value AS highest`;
  // Names that are not quoted are kept in upper case.
  return owner === undefined
    ? {
        sql: `SELECT ${columns} FROM user_sequences WHERE sequence_name = :1`,
        binds: [sequence.toUpperCase()],
      }
    : {
        sql: `SELECT ${columns} FROM all_sequences WHERE sequence_owner = :1 AND sequence_name = :2`,
        binds: [owner.toUpperCase(), sequence.toUpperCase()],
      };
}

function runner(client: OraclePool | OracleConnection): OracleConnection['execute'] {
  if (typeof (client as OracleConnection)?.execute === 'function')
    return (sql, binds) => (client as OracleConnection).execute(sql, binds);
  if (typeof (client as OraclePool)?.getConnection !== 'function')
    refuse('client', 'a Pool or Connection of the package oracledb', client);
  return async (sql, binds) => {
    const connection = await (client as OraclePool).getConnection();
    try {
      return await connection.execute(sql, binds);
    } finally {
      // What was read counts, whether or not the connection goes back well.
      await connection.close().catch(() => {});
    }
  };
}

function faultOf(error: unknown): 'exhausted' | 'missing' | undefined {
  const { errorNum } = (error ?? {}) as { errorNum?: unknown };
  // ORA-08004: NEXTVAL exceeds MAXVALUE or MINVALUE. ORA-02289: sequence does not exist.
  if (errorNum === 8004) return 'exhausted';
  return errorNum === 2289 ? 'missing' : undefined;
}
