import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Store } from 'idsmith';
import type { HistoryPlace } from './kept-history.js';

type SqlAccess = NonNullable<Store['sql']>;
type Executor = SqlAccess['outside'];

/** The most servers whose histories are kept. Those that were written longest ago go first. */
const MAX_SERVERS = 100;

const LOOK = 'SELECT name FROM idsmith_history WHERE 1 = 0';

/** Every column is a text of ASCII characters: all databases and drivers give those back as they are. */
const createTable = ({ dialect }: Executor) =>
  'CREATE TABLE IF NOT EXISTS idsmith_history (name VARCHAR(100) NOT NULL PRIMARY KEY, owner VARCHAR(36) NOT NULL, ' +
  `written_at VARCHAR(24) NOT NULL, content ${dialect === 'mysql' ? 'LONGTEXT' : 'TEXT'} NOT NULL)` +
  `${dialect === 'mysql' ? ' ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin' : ''}`;

/**
 * A row of the table `idsmith_history` in the database of the store, for the history of the server with this name. A server that starts
 * takes the row over. The one before, if it still runs, no longer writes: two servers with one name do not write over each other.
 */
export class HistoryTable implements HistoryPlace {
  readonly name: string;
  readonly wayOut = 'Choose another name, or delete this row of the table idsmith_history';
  // Longer than for a file: each writing replaces the row, and all servers share the database.
  readonly interval = 300_000;
  readonly #sql: SqlAccess;
  readonly #server: string;
  readonly #owner = randomUUID();

  /** @param server the name of the server */
  constructor(sql: SqlAccess, server: string) {
    this.name = `historyStore: "${server}"`;
    this.#sql = sql;
    this.#server = server;
  }

  async read(): Promise<string | undefined> {
    await this.#setUp();
    const content = await this.#sql.transact(async (sql) => {
      const before = await this.#lock(sql, 'content');
      await (before === undefined
        ? run(sql, 'INSERT INTO idsmith_history (name, owner, written_at, content) VALUES (?, ?, ?, ?)', [
            this.#server,
            this.#owner,
            new Date().toISOString(),
            '',
          ])
        : run(sql, 'UPDATE idsmith_history SET owner = ? WHERE name = ?', [this.#owner, this.#server]));
      await forgetOldest(sql, this.#server);
      return before;
    });
    if (!content) return undefined;
    // What is no history is for the reader to refuse.
    const unpacked = await promisify(gunzip)(Buffer.from(content, 'base64')).catch(() => content);
    return unpacked.toString();
  }

  async write(text: string): Promise<void> {
    const content = (await promisify(gzip)(text)).toString('base64');
    await this.#sql.transact(async (sql) => {
      if ((await this.#lock(sql, 'owner')) !== this.#owner)
        throw new Error('another server has started with this name, or the row was deleted');
      await run(sql, 'UPDATE idsmith_history SET written_at = ?, content = ? WHERE name = ?', [
        new Date().toISOString(),
        content,
        this.#server,
      ]);
    });
  }

  /** A column of the row, which others cannot change until the transaction ends; `undefined` without a row. */
  async #lock(sql: Executor, column: string): Promise<string | undefined> {
    const end = sql.dialect === 'sqlite' ? '' : ' FOR UPDATE';
    const text = `SELECT ${column} FROM idsmith_history WHERE name = ?${end}`;
    const [row] = await run(sql, text, [this.#server]);
    return row && textOf(row[column]);
  }

  /** Creates the table unless it exists. The right to create is needed only then. */
  async #setUp(): Promise<void> {
    const { outside } = this.#sql;
    const isThere = () =>
      outside.query(LOOK).then(
        () => true,
        () => false,
      );
    if (await isThere()) return;
    const create = createTable(outside);
    // Of two servers that create it at once, PostgreSQL lets one fail.
    await outside.query(create).catch(async (error) => {
      if (!(await isThere()))
        throw new Error(`${error.message}. Let another user run: ${create}`, { cause: error });
    });
  }
}

async function forgetOldest(sql: Executor, own: string): Promise<void> {
  const rows = await sql.query('SELECT name FROM idsmith_history ORDER BY written_at DESC');
  for (const { name } of rows.slice(MAX_SERVERS))
    if (textOf(name) !== own) await run(sql, 'DELETE FROM idsmith_history WHERE name = ?', [textOf(name)]);
}

/** Sends a statement with `?` for each value. */
function run(sql: Executor, text: string, values: readonly string[]) {
  let n = 0;
  return sql.query(sql.dialect === 'postgres' ? text.replaceAll('?', () => `$${++n}`) : text, values);
}

/** Some drivers give texts as bytes. */
const textOf = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
