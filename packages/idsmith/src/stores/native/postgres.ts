import type { BlockSource } from '../../sequence/port.js';
import { type PostgresClient, PostgresSession, postgresDriver } from '../postgres/session.js';
import { type NativeSequenceOptions, nativeSource, sequenceNameOf } from './source.js';

// The statement reads the increment after nextval. An ALTER SEQUENCE may run between the beginning of the statement and
// nextval, and a block of the old size would run into the next block. The CASE keeps the planner from reading the increment
// first. From nextval to the end of the statement, a lock on the sequence makes every other ALTER SEQUENCE wait.
const NEXT = `SELECT v.next::text AS next, p.increment::text AS step, p.minimum_value::text AS min, p.maximum_value::text AS max,
    p.start_value::text AS start
  FROM (SELECT nextval($1::regclass) AS next) v
  CROSS JOIN LATERAL pg_sequence_parameters(CASE WHEN v.next IS NULL THEN 0 ELSE $1::regclass::oid END) p`;

/**
 * A sequence of PostgreSQL itself as a source of blocks: INCREMENT BY is the block size, MAXVALUE the end. The name follows
 * the rules of SQL, so that `Orders_seq` is `orders_seq` and `"Orders_seq"` is not.
 *
 * @param client a `Pool` or `Client` of `pg`
 * @throws InvalidOptionError naming the option that is wrong
 *
 * @example
 * // CREATE SEQUENCE orders_seq INCREMENT BY 100
 * const orders = await sequences.get('orders', { source: postgresSequence(pool, 'orders') });
 */
export function postgresSequence(
  client: PostgresClient,
  name: string,
  options: NativeSequenceOptions = {},
): BlockSource {
  const driver = postgresDriver(client);
  const sequenceName = sequenceNameOf(name, options);
  const values = options.sql === undefined ? [sequenceName] : [];
  const selectWithin = (timeout: number) => {
    const session = new PostgresSession(driver, timeout);
    return () => session.ask(options.sql ?? NEXT, values);
  };
  return nativeSource(name, options, selectWithin, faultOf, ['postgres', client]);
}

function faultOf(error: unknown): 'exhausted' | 'missing' | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  // sequence_generator_limit_exceeded; undefined_table, invalid_schema_name, wrong_object_type
  if (code === '2200H') return 'exhausted';
  return code === '42P01' || code === '3F000' || code === '42809' ? 'missing' : undefined;
}
