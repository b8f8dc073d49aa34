import { StoreError } from '../../errors.js';
import { plainText } from '../sql/values.js';

/** What is needed of a connection to know its file. */
interface Connection {
  prepare(sql: string): { all(): unknown[] };
}

/** The part of `node:fs` that is needed. Its `stat` opens nothing, which could end SQLite's locks. */
interface FileSystem {
  statSync(
    path: string,
    options: { bigint: true; throwIfNoEntry: false },
  ): { readonly dev: bigint; readonly ino: bigint } | undefined;
}

/** A file, and what it was known by. */
interface WatchedFile {
  readonly path: string;
  readonly identity: string;
}

/** Where SQLite keeps what is not in the file yet, and the locks on it, while `journal_mode` is WAL. */
const COMPANIONS = ['-wal', '-shm'];

/**
 * Watches that the file which a connection has open is still the one at its path. A connection goes on to use a file that
 * somebody has removed or replaced; whoever opens the path finds another one, and both would give out the same ids.
 */
export class FileWatch {
  readonly #db: Connection;
  readonly #companions = new Map<string, string>();
  /** The file as it was when it was first looked at; `undefined` before that, and `null` of a database in memory. */
  #file: WatchedFile | null | undefined;

  /** Looks at the file at once, if the connection is open: the sooner, the less can have happened to it. */
  constructor(db: Connection) {
    this.#db = db;
    try {
      this.#look();
    } catch {
      // Whatever is wrong, the first call to the database fails of it and says so.
    }
  }

  /** @throws StoreError when the file, or what belongs to it, was removed or replaced */
  check(): void {
    const file = this.#file === undefined ? this.#look() : this.#file;
    if (file === null) return;
    if (identityOf(file.path) !== file.identity) throw moved(file.path);
    for (const suffix of COMPANIONS) this.#checkCompanion(file.path + suffix);
  }

  #look(): WatchedFile | null {
    const [row] = this.#db.prepare('PRAGMA database_list').all();
    const [, , path] = Object.values(row as object);
    const isFile = path !== null && path !== '' && fileSystem() !== undefined;
    this.#file = isFile ? { path: plainText(path), identity: identityOf(plainText(path)) } : null;
    return this.#file;
  }

  #checkCompanion(path: string): void {
    const [before, now] = [this.#companions.get(path), identityOf(path)];
    if (before === now || (before === undefined && now === ABSENT)) return;
    if (before !== undefined) {
      const [mode] = this.#db.prepare('PRAGMA journal_mode').all();
      if (plainText(Object.values(mode as object)[0]) === 'wal') throw moved(path);
    }
    // It has come into being, or the connection's user has left WAL.
    if (now === ABSENT) this.#companions.delete(path);
    else this.#companions.set(path, now);
  }
}

const ABSENT = 'absent';

/** What tells a file from others, on one machine and at one time. */
function identityOf(path: string): string {
  const found = fileSystem()?.statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? ABSENT : `${found.dev}:${found.ino}`;
}

/** Not an import: this module is loaded where there are no files, too. */
function fileSystem(): FileSystem | undefined {
  return globalThis.process?.getBuiltinModule?.('node:fs') as FileSystem | undefined;
}

function moved(path: string): StoreError {
  return new StoreError(
    `sqlite store: ${path} has been removed or replaced since it was opened. Whoever opens it now finds other leases and ` +
      'sequences, and ids would come twice. Stop this process, put the right file in its place and start again',
    { isReplaced: true },
  );
}
