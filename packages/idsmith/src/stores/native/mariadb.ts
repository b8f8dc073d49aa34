import type { BlockSource } from '../../sequence/port.js';
import { type MysqlClient, MysqlSession, mysqlDriver } from '../mysql/session.js';
import { type NativeSequenceOptions, nativeSource, sequenceNameOf } from './source.js';

const ER_NO_SUCH_TABLE = 1146;
const ER_NOT_SEQUENCE = 4089;
const ER_UNKNOWN_SEQUENCES = 4091;
const ER_SEQUENCE_RUN_OUT = 4084;

/**
 * A sequence of MariaDB itself as a source of blocks: INCREMENT BY is the block size, MAXVALUE the end.
 *
 * @param client a pool or connection of `mysql2/promise`
 * @throws InvalidOptionError naming the option that is wrong
 *
 * @example
 * // CREATE SEQUENCE orders_seq INCREMENT BY 100
 * const orders = await sequences.get('orders', { source: mariadbSequence(pool, 'orders') });
 */
export function mariadbSequence(
  client: MysqlClient,
  name: string,
  options: NativeSequenceOptions = {},
): BlockSource {
  const driver = mysqlDriver(client);
  const sequence = quoted(sequenceNameOf(name, options));
  const sql = options.sql ?? nextOf(sequence);
  const selectWithin = (timeout: number) => {
    const session = new MysqlSession(driver, timeout);
    return () => session.ask(sql);
  };
  return nativeSource(name, options, selectWithin, faultOf, ['mariadb', client]);
}

// An ALTER SEQUENCE waits until the statement has ended, so value and increment belong together.
const nextOf = (sequence: string) =>
  `SELECT CAST(NEXT VALUE FOR ${sequence} AS CHAR) AS next_value, CAST(increment AS CHAR) AS step,
    CAST(minimum_value AS CHAR) AS lowest, CAST(maximum_value AS CHAR) AS highest,
    CAST(start_value AS CHAR) AS first_value FROM ${sequence}`;

/** `shop.orders_seq` as `` `shop`.`orders_seq` ``. */
function quoted(name: string): string {
  return name
    .split('.')
    .map((part) => `\`${part.replaceAll('`', '``')}\``)
    .join('.');
}

function faultOf(error: unknown): 'exhausted' | 'missing' | undefined {
  const { errno } = (error ?? {}) as { errno?: unknown };
  if (errno === ER_SEQUENCE_RUN_OUT) return 'exhausted';
  const missing = [ER_NO_SUCH_TABLE, ER_NOT_SEQUENCE, ER_UNKNOWN_SEQUENCES] as unknown[];
  return missing.includes(errno) ? 'missing' : undefined;
}
