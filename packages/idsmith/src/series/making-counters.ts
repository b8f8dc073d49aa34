import { StoreError } from '../errors.js';
import type { SqlExecutor } from '../executor/port.js';
import { show } from '../options.js';
import { plainText } from '../stores/sql/values.js';
import { nameDigest } from './names.js';

/** The longest wait of MySQL for another transaction that makes the same counter, seconds. */
const LONGEST_WAIT = 50;

/**
 * Runs the INSERT of a counter. In MySQL, those who make the same counter come one by one: if many wait for a row whose transaction is
 * rolled back, all of them get a lock on the gap that the row leaves, and the first INSERT into the gap is a deadlock.
 */
export async function oneByOne<T>(sql: SqlExecutor, name: string, insert: () => Promise<T>): Promise<T> {
  if (sql.dialect !== 'mysql') return insert();
  const lock = `idsmith:${nameDigest(name)}`;
  // Some clusters have no such locks. A deadlock is an error of one of the two there.
  const rows = await sql
    .query(`SELECT CAST(GET_LOCK(?, ${LONGEST_WAIT}) AS CHAR) AS got`, [lock])
    .catch(() => undefined);
  if (rows === undefined) return insert();
  if (plainText(Object.values(rows[0] ?? {})[0]) !== '1')
    throw new StoreError(
      `another transaction has been making the counter ${show(name)} for ${LONGEST_WAIT} seconds: roll back and try again`,
    );
  try {
    return await insert();
  } finally {
    // The lock ends with the connection, too.
    await sql.query('DO RELEASE_LOCK(?)', [lock]).catch(() => undefined);
  }
}

/** The transactions that made counters, by the generations of the counters. */
const makers = new Map<number, WeakRef<SqlExecutor>>();
/** Counters that are there for certain. */
const committed = new Set<string>();
const MOST = 10_000;

/** Notes that a transaction makes a counter of this generation, unless the counter is there. */
export function making(generation: number, sql: SqlExecutor): void {
  if (makers.size >= MOST) makers.clear();
  makers.set(generation, new WeakRef(sql));
}

/**
 * Notes that a transaction saw a counter. One that another transaction has made is committed. One that the same connection has made may
 * be part of a transaction that is still open, and may go with it. It matters because a lock on a missing row is one on the gap in MySQL.
 */
export function saw(name: string, generation: number, sql: SqlExecutor): void {
  if (makers.get(generation)?.deref() === sql) return;
  if (committed.size >= MOST) committed.clear();
  committed.add(name);
}

/** Tells whether the counter was there for certain. Where somebody has removed it by hand since, it is made again. */
export const isCommitted = (name: string) => committed.has(name);
