import { copyingPlatform, warn } from '#runtime';
import { InvalidOptionError } from '../../errors.js';

// Whether a file lasts, and whether its locks work. A file in a container's own layer or in memory is gone with the container, and every copy of
// the container has one of its own: ids repeat. On a network file system, the locks of SQLite are not reliable.

/** Kinds of file systems by the numbers that Linux gives them: see statfs(2). */
const EPHEMERAL: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x794c7630, 'overlay'],
]);
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
]);

/** What the user has said by name. */
export interface FilePromises {
  /** The file may be gone with the container, and no other container uses its ids. */
  readonly ephemeral: boolean;
  /** The locks of this network file system work. */
  readonly network: boolean;
}

/** What is to be done about the file system of a store. */
export type FileVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'warn' | 'refuse'; readonly message: string };

const FINE: FileVerdict = { kind: 'fine' };

/**
 * Judges the file system of a store's file.
 *
 * @param type the number of its kind
 * @param platform the platform that starts copies of this container; `undefined` if none is known
 */
export function judgeFileSystem(
  path: string,
  type: number,
  platform: string | undefined,
  { ephemeral, network }: FilePromises,
): FileVerdict {
  const remote = NETWORK.get(type);
  if (remote !== undefined && !network)
    return {
      kind: 'refuse',
      message:
        `sqlite store: ${path} is on a network file system (${remote}), where the locks of SQLite are not reliable and ids could repeat. ` +
        'Use a database server, a local disk, or add ?network=true if one machine alone uses the file',
    };
  const fleeting = EPHEMERAL.get(type);
  if (fleeting === undefined || ephemeral) return FINE;
  const what = `sqlite store: ${path} is on ${fleeting}, which is gone with its container`;
  if (platform === undefined)
    return {
      kind: 'warn',
      message: `${what} or with a restart. The next one begins with an empty store, and repeats ids. Use a disk or a volume, or add ?ephemeral=true`,
    };
  return {
    kind: 'refuse',
    message:
      `${what}. On ${platform} every copy of the container has a store of its own, and they repeat each other's ids. Use a database server, ` +
      'or a volume for one copy alone, or add ?ephemeral=true if these ids meet no others',
  };
}

const warned = new Set<string>();

/**
 * Looks at the file system of a file that is about to be opened.
 *
 * @throws InvalidOptionError when ids would repeat, and the user has not said that they may
 */
export function checkFileSystem(path: string, promises: FilePromises): void {
  const fs = process.getBuiltinModule?.('node:fs');
  const paths = process.getBuiltinModule?.('node:path');
  if (fs?.statfsSync === undefined || paths === undefined || path === ':memory:') return;
  requireOnePath(path);
  const verdict = judgeFileSystem(
    path,
    typeOf(() => fs.statfsSync(paths.dirname(path)).type),
    copyingPlatform(),
    promises,
  );
  if (verdict.kind === 'refuse') throw new InvalidOptionError(verdict.message);
  if (verdict.kind === 'fine' || warned.has(path)) return;
  warned.add(path);
  warn(verdict.message, 'SQLITE_EPHEMERAL');
}

/** The number of the kind of a file system; 0 if it cannot be told. The number is signed in some runtimes. */
function typeOf(read: () => number): number {
  try {
    return read() >>> 0;
  } catch {
    return 0;
  }
}

/**
 * Refuses a file that processes reach by two paths. SQLite keeps the log of writes and its locks beside the path that was opened, so these
 * processes do not see each other's writes. A second path must exist before it is opened, so one look at opening is enough: a link that is
 * made later, by a backup for example, does not stop the processes at work.
 *
 * @throws InvalidOptionError if the file has several hard links, or is itself a mount point, as `docker run -v ./ids.db:/data/ids.db` makes it
 */
export function requireOnePath(path: string): void {
  const fs = process.getBuiltinModule?.('node:fs');
  if (fs === undefined) return;
  let place: string;
  try {
    // SQLite resolves symbolic links before it names the files beside the path.
    place = fs.realpathSync(path);
  } catch {
    return;
  }
  const reason =
    'SQLite keeps its log and its locks beside the path that was opened, so a process at another path of the same file misses writes, and ids repeat';
  const stats = fs.statSync(place);
  if (!stats.isFile()) return;
  const { nlink } = stats;
  if (nlink > 1)
    throw new InvalidOptionError(
      `sqlite store: ${place} has ${nlink} hard links. ${reason}. Remove the other links, or make symbolic links, which SQLite resolves`,
    );
  if (mountPoints(() => fs.readFileSync('/proc/self/mountinfo', 'utf8')).has(place))
    throw new InvalidOptionError(
      `sqlite store: ${place} is itself a mount point. ${reason}, also after the container is made anew. Mount the folder of the file ` +
        'instead: docker run -v ./data:/data, with the file in ./data',
    );
}

/** The mount points that Linux lists: see proc(5). The list writes spaces and backslashes in octal. */
function mountPoints(read: () => string): ReadonlySet<string> {
  try {
    const points = read()
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '');
    const plain = (point: string) =>
      point.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    return new Set(points.map(plain));
  } catch {
    return new Set();
  }
}
