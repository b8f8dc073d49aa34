import type { Block } from 'idsmith';
import type { PlainSqlWay } from '../support/shared-database.ts';

/** A connection of a program that knows nothing of idsmith, to a database that has transactions and row locks. */
export interface PlainSqlConnection {
  /** Runs a statement and gives the values of its first row, as text. */
  ask(sql: string): Promise<string[]>;
  /** Starts a transaction. */
  begin(isSerializable: boolean): Promise<unknown>;
  /** Whether the server has undone the transaction in favour of another one. */
  isUndone(error: unknown): boolean;
}

/** Takes a block as such programs do; all over again if the server has undone it. */
export async function takeWithPlainSql(
  connection: PlainSqlConnection,
  name: string,
  way: PlainSqlWay,
): Promise<Block> {
  for (;;) {
    try {
      await connection.begin(way === 'reads and writes, serializable');
      const block = await (way === 'writes and reads'
        ? writeAndRead(connection, name)
        : readAndWrite(connection, name, way === 'locks the row, reads and writes' ? ' FOR UPDATE' : ''));
      await connection.ask('COMMIT');
      return block;
    } catch (error) {
      await connection.ask('ROLLBACK');
      if (!connection.isUndone(error)) throw error;
    }
  }
}

async function readAndWrite({ ask }: PlainSqlConnection, name: string, lock: string): Promise<Block> {
  const [next, size] = await ask(
    `SELECT next_block_start, block_size FROM id_sequences WHERE name = '${name}'${lock}`,
  );
  const block = { first: BigInt(next!), step: 1, count: Number(size) };
  const end = block.first + BigInt(block.count);
  await ask(`UPDATE id_sequences SET next_block_start = ${end} WHERE name = '${name}'`);
  return block;
}

async function writeAndRead({ ask }: PlainSqlConnection, name: string): Promise<Block> {
  await ask(
    `UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = '${name}'`,
  );
  const [next, size] = await ask(
    `SELECT next_block_start, block_size FROM id_sequences WHERE name = '${name}'`,
  );
  return { first: BigInt(next!) - BigInt(size!), step: 1, count: Number(size) };
}
