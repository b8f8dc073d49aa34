import { type SqliteConnection, sqliteRowsOf } from '../../drivers/sqlite.js';
import { InvalidOptionError, StoreError } from '../../errors.js';
import { plainText } from '../sql/values.js';
import { requireOnePath } from './file-system.js';

/** The used part of `node:fs`. `stat` does not open the file. Opening and closing it could end SQLite's locks. */
interface FileSystem {
  statSync(path: string, options: { bigint: true; throwIfNoEntry: false }): FileStats | undefined;
}

interface FileStats {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** A file and its identity. */
interface WatchedFile {
  readonly path: string;
  readonly identity: string;
  readonly lineage?: string | undefined;
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
   * @throws InvalidOptionError if the file has another path: see `requireOnePath`
   */
  constructor(db: SqliteConnection, path?: string) {
    this.#db = db;
    this.#opened = path === undefined ? undefined : { path, identity: identityOf(path) };
    try {
      this.#look();
    } catch (error) {
      if (error instanceof InvalidOptionError) throw error;
      // The first call to the database fails with the same error.
    }
  }

  /**
   * @param hasUsed true if the connection has just used the file. Then it keeps `-wal` and `-shm` open, and they may not change from now on.
   * Before that they are of others, whose last one removes them.
   * @throws StoreError when the file, its `-wal` or its `-shm` was removed or replaced
   */
  check(hasUsed = true): void {
    const file = this.#file === undefined ? this.#look() : this.#file;
    if (file === null) return;
    for (const { path, identity } of this.#opened ? [file, this.#opened] : [file])
      if (identityOf(path) !== identity) throw moved(path);
    for (const suffix of COMPANIONS) this.#checkCompanion(file.path + suffix, hasUsed);
  }

  /**
   * The lineage of the file at the first look: its inode and its time of birth, which another file at its path does not have. The device
   * does not count: it may change when a volume is mounted again. `undefined` for a database in memory.
   */
  get lineage(): string | undefined {
    return (this.#file === undefined ? this.#look() : this.#file)?.lineage;
  }

  #look(): WatchedFile | null {
    const [row] = sqliteRowsOf(this.#db, 'PRAGMA database_list');
    const [, , path] = Object.values(row as object);
    const isFile = path !== null && path !== '' && fileSystem() !== undefined;
    const file = plainText(path);
    if (isFile) requireOnePath(file);
    this.#file = isFile ? { path: file, identity: identityOf(file), lineage: lineageOf(file) } : null;
    return this.#file;
  }

  #checkCompanion(path: string, hasUsed: boolean): void {
    const [before, now] = [this.#companions.get(path), identityOf(path)];
    if (before === now || (before === undefined && (now === ABSENT || !hasUsed))) return;
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
  const found = statsOf(path);
  return found === undefined ? ABSENT : `${found.dev}:${found.ino}`;
}

function statsOf(path: string): FileStats | undefined {
  return fileSystem()?.statSync(path, { bigint: true, throwIfNoEntry: false });
}

function lineageOf(path: string): string | undefined {
  const found = statsOf(path);
  return found && (hasBirths() ? `${found.ino} ${found.birthtimeNs}` : String(found.ino));
}

/** True if the system tells when a file was born. Some old ones tell the time of its last change instead, of every file. */
function hasBirths(): boolean {
  const program = statsOf(process.execPath);
  return program?.birthtimeNs !== program?.ctimeNs;
}

/** Node's file system. Not an import: this module is also loaded in runtimes without files. */
function fileSystem(): FileSystem | undefined {
  return globalThis.process?.getBuiltinModule?.('node:fs') as FileSystem | undefined;
}

function moved(path: string): StoreError {
  return new StoreError(
    `sqlite store: ${path} has been removed or replaced since it was opened. Another process finds other leases and sequences ` +
      'at this path, and ids would repeat. Stop this process, put the right file in its place, and start again',
    { reason: 'REPLACED' },
  );
}
