import { StoreError } from '../../errors.js';
import type { SqliteConnection } from '../../executor/drivers.js';
import { refuse } from '../../options.js';
import { packageError } from '../../support/load-package.js';
import { type DriverError, storeError } from '../../support/store-error.js';
import type { DisposableStore } from '../store.js';
import { isBusy } from './connection.js';
import { storeOn } from './store.js';

type OpenDatabase = SqliteConnection & { close(): unknown };
type Constructor = new (path: string) => OpenDatabase;

/**
 * The store of a URL like `sqlite:./ids.db` or `sqlite::memory:`, with a connection of its own that `close()` ends.
 *
 * @throws InvalidOptionError when the URL has no path, or has settings
 * @throws StoreError when the file cannot be opened, or `libsql` is needed and not installed
 */
export async function openSqlite(url: string): Promise<DisposableStore> {
  const path = url.replace(/^sqlite:(\/\/)?/, '');
  if (path === '' || path.includes('?'))
    refuse('url', 'sqlite: and the path of a file, without settings, or sqlite::memory:', url);
  // Some builds of SQLite read this as a URI: another file than the path names, or none at all.
  if (/^file:/i.test(path))
    refuse('url', 'sqlite: and a path without file:, for example sqlite:./ids.db', url);
  const Database = await sqliteDriver();
  try {
    const db = new Database(path);
    return storeOn(db, {
      path: absolute(path),
      // In WAL mode, readers and the writer do not wait for each other. The file remembers the mode.
      configure: () => db.exec('PRAGMA journal_mode = WAL'),
      end: () => closeWithCheckpoint(db),
    });
  } catch (error) {
    const problem = problemOf(path);
    const place = absolute(path);
    if (problem === undefined) throw storeError(`sqlite store: opening the file ${place}`, error);
    throw new StoreError(`sqlite store: opening the file ${place} failed: ${problem}`, { cause: error });
  }
}

/** The reason why there can be no file at the path, if there is one. SQLite says only that it is unable to open the file. */
function problemOf(path: string): string | undefined {
  const fs = process.getBuiltinModule?.('node:fs');
  const paths = process.getBuiltinModule?.('node:path');
  if (fs === undefined || paths === undefined) return undefined;
  const folder = paths.dirname(absolute(path));
  if (!fs.existsSync(folder)) return `the folder ${folder} does not exist`;
  try {
    return fs.statSync(path).isDirectory() ? 'the path is that of a folder' : undefined;
  } catch {
    // The driver's own error tells more than that the path cannot be looked at.
    return undefined;
  }
}

/** The path from the root, so that a change of the working directory does not matter. */
function absolute(path: string): string {
  const paths = process.getBuiltinModule?.('node:path') as { resolve(path: string): string } | undefined;
  return paths?.resolve(path) ?? path;
}

/**
 * Closes the connection with all writes in the one file, so that a copy of the file has them. A driver alone may leave writes in
 * the log beside the file. The log stays while other connections have the file open.
 */
function closeWithCheckpoint(db: OpenDatabase): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isBusy(error as DriverError)) throw error;
  } finally {
    db.close();
  }
}

async function sqliteDriver(): Promise<Constructor> {
  // Not an import: Node 20 and Bun do not have this module. This call tells so without an error.
  const builtIn = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: Constructor } | undefined;
  if (builtIn) return builtIn.DatabaseSync;
  return (await loadLibsql()).default;
}

async function loadLibsql() {
  try {
    return await import('libsql');
  } catch (error) {
    throw packageError('libsql', error);
  }
}
