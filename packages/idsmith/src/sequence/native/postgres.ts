import type { PostgresClient } from '../../stores/postgres.js';
import type { BlockSource } from '../port.js';
import { type NativeSequenceOptions, nativeBlock, sequenceNameOf } from './block.js';

const NEXT = `SELECT nextval(seqrelid)::text AS next, seqincrement::text AS step, seqmin::text AS min, seqmax::text AS max
  FROM pg_sequence WHERE seqrelid = $1::regclass`;

/**
 * A sequence of PostgreSQL itself as a source of blocks: INCREMENT BY is the block size, MAXVALUE the end. The name follows
 * the rules of SQL, so that `Orders_seq` is `orders_seq` and `"Orders_seq"` is not.
 *
 * @param client a `Pool` or `Client` of `pg`
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
  const sequenceName = sequenceNameOf(name, options);
  const values = options.sql === undefined ? [sequenceName] : [];
  const select = async () => (await client.query(options.sql ?? NEXT, values)).rows;
  return { allocate: () => nativeBlock(name, select, faultOf) };
}

function faultOf(error: unknown): 'exhausted' | 'missing' | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  // sequence_generator_limit_exceeded; undefined_table, invalid_schema_name
  if (code === '2200H') return 'exhausted';
  return code === '42P01' || code === '3F000' ? 'missing' : undefined;
}
