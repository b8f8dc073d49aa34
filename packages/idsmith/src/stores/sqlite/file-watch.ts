import { StoreError } from '../../errors.js';
import { type SqliteConnection, sqliteRowsOf } from '../../executor/drivers.js';
import { plainText } from '../sql/values.js';

/** The used part of `node:fs`. `stat` does not open the file. Opening and closing it could end SQLite's locks. */
interface FileSystem {
  statSync(
    path: string,
    options: { bigint: true; throwIfNoEntry: false },
  ): { readonly dev: bigint; readonly ino: bigint } | undefined;
}

/** A file and its identity. */
interface WatchedFile {
  readonly path: string;
  readonly identity: string;
}

/** The files beside a file in WAL mode: the log of writes, and the locks on it. */
const COMPANIONS = ['-wal', '-shm'];

/**
 * Checks that the open file of a connection is still the file at its path. A connection goes on to use a file that was removed or
 * replaced. The next process that opens the path finds another file, and both would give out the same ids.
 */
export class FileWatch {
  readonly #db: SqliteConnection;
  readonly #companions = new Map<string, string>();
  /** The file at the first look; `undefined` before it, and `null` for a database in memory. */
  #file: WatchedFile | null | undefined;

  /** The path that was opened, and the file there: SQLite tells its own path with symbolic links resolved. */
  readonly #opened: WatchedFile | undefined;

  /**
   * Looks at the file at once if the connection is open, before anything can happen to the file.
   *
   * @param path the path that was opened, if it is known
   */
  constructor(db: SqliteConnection, path?: string) {
    this.#db = db;
    this.#opened = path === undefined ? undefined : { path, identity: identityOf(path) };
    try {
      this.#look();
    } catch {
      // The first call to the database fails with the same error.
    }
  }

  /** @throws StoreError when the file, its `-wal` or its `-shm` was removed or replaced */
  check(): void {
    const file = this.#file === undefined ? this.#look() : this.#file;
    if (file === null) return;
    for (const { path, identity } of this.#opened ? [file, this.#opened] : [file])
      if (identityOf(path) !== identity) throw moved(path);
    for (const suffix of COMPANIONS) this.#checkCompanion(file.path + suffix);
  }

  #look(): WatchedFile | null {
    const [row] = sqliteRowsOf(this.#db, 'PRAGMA database_list');
    const [, , path] = Object.values(row as object);
    const isFile = path !== null && path !== '' && fileSystem() !== undefined;
    this.#file = isFile ? { path: plainText(path), identity: identityOf(plainText(path)) } : null;
    return this.#file;
  }

  #checkCompanion(path: string): void {
    const [before, now] = [this.#companions.get(path), identityOf(path)];
    if (before === now || (before === undefined && now === ABSENT)) return;
    if (before !== undefined) {
      const [mode] = sqliteRowsOf(this.#db, 'PRAGMA journal_mode');
      if (plainText(Object.values(mode as object)[0]) === 'wal') throw moved(path);
    }
    // SQLite has created the file, or the connection has left WAL mode.
    if (now === ABSENT) this.#companions.delete(path);
    else this.#companions.set(path, now);
  }
}

const ABSENT = 'absent';

/** The identity of the file at a path. It distinguishes all files that exist on a machine at one time. */
function identityOf(path: string): string {
  const found = fileSystem()?.statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? ABSENT : `${found.dev}:${found.ino}`;
}

/** Node's file system. Not an import: this module is also loaded in runtimes without files. */
function fileSystem(): FileSystem | undefined {
  return globalThis.process?.getBuiltinModule?.('node:fs') as FileSystem | undefined;
}

function moved(path: string): StoreError {
  return new StoreError(
    `sqlite store: ${path} has been removed or replaced since it was opened. Another process finds other leases and sequences ` +
      'at this path, and ids would repeat. Stop this process, put the right file in its place, and start again',
    { isReplaced: true },
  );
}
