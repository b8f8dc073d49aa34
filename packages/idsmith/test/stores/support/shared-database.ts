import type { Block } from 'idsmith';
import { expect } from 'vitest';
import type { Store } from '../../../src/stores/store.ts';

/** A database that is empty at first, seen by idsmith and by a program that knows nothing of it. */
export interface SharedDatabase {
  /** A store with at most so many connections of its own. */
  store(connections?: number): Store;
  /** How many statements all stores have sent so far. */
  statements(): number;
  /** Runs a statement of the other program. */
  sql(text: string): Promise<unknown>;
  /** The row of a sequence, as text. */
  row(name: string): Promise<UpstreamRow | undefined>;
  /** Takes a block as the other program does, in a transaction of its own. */
  takeBlockBySql(name: string, way: PlainSqlWay): Promise<Block>;
  close(): Promise<unknown>;
}

/** What a program knows of a sequence that was made for TopCoder's ID Generator. */
export interface UpstreamRow {
  readonly next_block_start: string;
  readonly block_size: string;
  readonly exhausted: string | null;
}

/** How another program may keep others away: by a lock, by the isolation level, or by writing before it reads. */
export const PLAIN_SQL_WAYS = [
  'locks the row, reads and writes',
  'reads and writes, serializable',
  'writes and reads',
] as const;

export type PlainSqlWay = (typeof PLAIN_SQL_WAYS)[number];

/** The table as TopCoder's ID Generator has it, with that type of the last column. */
export function upstreamTable(exhausted = 'INT DEFAULT 0'): string {
  return `CREATE TABLE id_sequences (
    name VARCHAR(255) NOT NULL,
    next_block_start BIGINT NOT NULL,
    block_size INT NOT NULL,
    exhausted ${exhausted},
    PRIMARY KEY (name)
  )`;
}

/** The ids of blocks, ascending. */
export function sortedIds(blocks: Iterable<Block>): bigint[] {
  const ids = BigInt64Array.from([...blocks].flatMap(idsOf));
  return [...ids.sort()];
}

/** Each id of a run. */
export function idsOf({ first, step, count }: Block): bigint[] {
  return Array.from({ length: count }, (_, i) => first + BigInt(step) * BigInt(i));
}

/** That the blocks hold all ids from `first` on, each once. */
export function expectNoGap(blocks: readonly Block[], first = 1n): void {
  const ids = sortedIds(blocks);
  expect(ids.findIndex((id, i) => id !== first + BigInt(i))).toBe(-1);
}

/** What `times` calls give, one after the other. */
export async function repeatedly<T>(times: number, call: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < times; i++) results.push(await call());
  return results;
}
