import { InvalidOptionError, refuse, requireInteger, requireKnown } from 'idsmith/internal';
import {
  AUTH_NAMES,
  type Auth,
  type NodeLogin,
  pickAuth,
  type SentinelSettings,
  type ShardAuth,
} from './auth.js';

/** Port, host and weight. Port and weight may be numbers or text with digits. The default weight is 1. */
export type ShardTuple = readonly [port: number | string, host: string, weight?: number | string];

/** The Sentinels of a node, with the login for the Sentinels themselves. */
export interface ShardSentinel extends ShardAuth {
  /** The name of the master in the config of the Sentinels. */
  readonly master: string;
  readonly nodes: readonly (readonly [port: number | string, host: string])[];
}

/** A node with its parts by name: an address (`url`, or `host` and `port`) or Sentinels, and the login of the node. */
export interface ShardRecord extends ShardAuth {
  /** `redis://user:password@host:port/database`, or `rediss://` for TLS. */
  readonly url?: string;
  readonly port?: number | string;
  readonly host?: string;
  /** Sentinels that know the address. Needs a `ringName` and the package `ioredis`. */
  readonly sentinel?: ShardSentinel;
  /** Default 1. */
  readonly weight?: number | string;
  /**
   * The name that places the node on the ring. Default `host:port`. Set it to the old `host:port` when the server gets
   * another address: every key then keeps its node.
   */
  readonly ringName?: string;
  /** `true`, or options of `tls.connect` like `ca`, `cert`, `key` and `servername`. Default false. */
  readonly tls?: boolean | Readonly<Record<string, unknown>>;
  /** The number of the database, which must be the same in all processes. Default 0. */
  readonly database?: number | string;
}

/** An entry of `shards`: a list, an object or a URL. */
export type ShardEntry = ShardTuple | ShardRecord | string;

/** An entry that was read. */
interface ReadEntry extends Pick<ShardRecord, 'weight' | 'ringName'> {
  readonly host: string;
  readonly port: number;
  readonly address: string;
  readonly login: NodeLogin;
}

const SENTINEL_NAMES = ['master', 'nodes', ...AUTH_NAMES];
const RECORD_NAMES = [
  'url',
  'port',
  'host',
  'sentinel',
  'weight',
  'ringName',
  'tls',
  'database',
  ...AUTH_NAMES,
];

/**
 * Reads an entry of `shards`.
 *
 * @param option the name of the entry in messages, like `shards.0`
 * @param auth the login if the entry has none
 * @throws InvalidOptionError naming the part that is wrong, and never a password
 */
export function readEntry(option: string, entry: ShardEntry, auth: Auth): ReadEntry {
  const record = recordOf(option, entry);
  const { weight, ringName } = record;
  const url = record.url === undefined ? undefined : readUrl(option, record);
  const own = pickAuth(option, { user: url?.user, password: url?.password, ...withoutUndefined(record) });
  const sentinel = record.sentinel === undefined ? undefined : readSentinel(option, record);
  const host = sentinel === undefined ? requireText(`the host of ${option}`, url?.host ?? record.host) : '';
  const port = sentinel === undefined ? readPort(`the port of ${option}`, url?.port ?? record.port) : 0;
  const database = toNumber(url?.database ?? record.database ?? 0);
  const login: NodeLogin = {
    ...(own.user === undefined && own.password === undefined ? auth : own),
    tls: readTls(option, record.tls ?? url?.tls ?? false),
    database: requireInteger(`the database of ${option}`, database, 0, 99_999),
    sentinel,
  };
  const server = sentinel === undefined ? `${host}:${port}` : `sentinel:${sentinel.master}`;
  const address = login.database === 0 ? server : `${server}/${login.database}`;
  return {
    host,
    port,
    address,
    login,
    ...(weight !== undefined && { weight }),
    ...(ringName !== undefined && { ringName }),
  };
}

function recordOf(option: string, entry: unknown): ShardRecord {
  if (typeof entry === 'string') return { url: entry };
  if (Array.isArray(entry)) {
    if (entry.length > 3) refuse(option, '[port, host, weight] and nothing more', entry);
    const [port, host, weight] = entry as unknown as ShardTuple;
    return { port, host, ...(weight !== undefined && { weight }) };
  }
  if (typeof entry !== 'object' || entry === null)
    refuse(option, '[port, host, weight], an object, or a URL', entry);
  return requireKnown(option, entry as ShardRecord, RECORD_NAMES);
}

function readUrl(option: string, { url, host, port, sentinel, database }: ShardRecord) {
  if (host !== undefined || port !== undefined || sentinel !== undefined)
    throw new InvalidOptionError(`${option} has a url: leave out host, port and sentinel`);
  if (typeof url !== 'string') throw new InvalidOptionError(`${option}.url must be text`);
  const read = readNodeUrl(option, url);
  if (database !== undefined && read.database !== undefined)
    throw new InvalidOptionError(`${option} has a database in its url: leave out the option database`);
  return read;
}

function readSentinel(option: string, { sentinel, host, port, ringName }: ShardRecord): SentinelSettings {
  if (typeof sentinel !== 'object' || sentinel === null)
    refuse(`${option}.sentinel`, 'an object with master and nodes', sentinel);
  requireKnown(`${option}.sentinel`, sentinel, SENTINEL_NAMES);
  if (host !== undefined || port !== undefined)
    throw new InvalidOptionError(
      `${option} has a sentinel, which knows the address: leave out host and port`,
    );
  if (ringName === undefined)
    throw new InvalidOptionError(
      `${option} has a sentinel and needs a ringName, because its address may change`,
    );
  const { master, nodes } = sentinel;
  if (!Array.isArray(nodes) || nodes.length === 0)
    refuse(`${option}.sentinel.nodes`, 'a list of [port, host]', nodes);
  return {
    master: requireText(`${option}.sentinel.master`, master),
    nodes: nodes.map((node: unknown, i: number) => {
      const at = `${option}.sentinel.nodes[${i}]`;
      if (!Array.isArray(node) || node.length !== 2) refuse(at, '[port, host]', node);
      return {
        port: readPort(`the port of ${at}`, node[0]),
        host: requireText(`the host of ${at}`, node[1]),
      };
    }),
    ...pickAuth(`${option}.sentinel`, sentinel),
  };
}

/** @throws InvalidOptionError without the value, unless it is true, false or an object */
export function readTls(option: string, tls: unknown): NodeLogin['tls'] {
  if (typeof tls === 'boolean') return tls;
  // The message does not show the wrong value, because the value may be a key.
  if (typeof tls !== 'object' || tls === null || Array.isArray(tls))
    throw new InvalidOptionError(
      `${option}.tls must be true, false, or an object with options of tls.connect`,
    );
  return tls as Readonly<Record<string, unknown>>;
}

const readPort = (option: string, port: unknown) => requireInteger(option, toNumber(port), 1, 65_535);

const withoutUndefined = (record: ShardRecord) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

/** Turns text with digits into a number, because ports are text in Shardjs configs. Other values are kept. */
export function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

/** @throws InvalidOptionError unless the value is text without white space */
export function requireText(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && !/[\s\0]/.test(value)) return value;
  refuse(option, 'text without spaces', value);
}

/** The parts of a URL like `rediss://user:password@host:6379/2`. */
interface NodeUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  readonly database: string | undefined;
}

/**
 * Reads the URL of a node.
 *
 * @param option the entry, for messages. They never show the URL, which may hold a password.
 * @throws InvalidOptionError naming the part that is wrong
 */
function readNodeUrl(option: string, text: string): NodeUrl {
  if (!URL.canParse(text) || !/^rediss?:$/.test(new URL(text).protocol))
    throw new InvalidOptionError(
      `${option} must be [port, host, weight], an object, or a URL like rediss://user:password@host:6379`,
    );
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '')
    throw new InvalidOptionError(`${option} must be a URL without ? and #: give other settings in an object`);
  if (url.hostname === '') throw new InvalidOptionError(`${option} must be a URL with a host`);
  const database = url.pathname.replace(/^\/$/, '').slice(1);
  if (!/^\d{0,5}$/.test(database))
    throw new InvalidOptionError(`${option} must be a URL that ends in the number of a database, like /2`);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 6379 : Number(url.port),
    user: decoded(option, url.username),
    password: decoded(option, url.password),
    tls: url.protocol === 'rediss:',
    database: database === '' ? undefined : database,
  };
}

function decoded(option: string, text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    throw new InvalidOptionError(
      `${option} has a % in its user or password that is not followed by two hex digits`,
    );
  }
}
