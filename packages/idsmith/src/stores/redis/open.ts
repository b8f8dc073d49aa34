import { InvalidOptionError } from '../../errors.js';
import { requireChoice, show } from '../../options.js';
import type { DisposableStore } from '../store.js';
import { addressOf, requireSettings } from '../url.js';
import { beginConnection, loadRedisDriver, type RedisDriver, type RedisTarget } from './drivers.js';
import { type Address, beginGroup, type NatMap, type RedisGroup, serversOf } from './groups.js';
import { OwnRedisClient } from './own-client.js';
import { type RedisStoreOptions, storeOn } from './store.js';

/** The wait for an answer, ms. */
const TIMEOUT = 5000;

/**
 * The store of a URL like `rediss://user:password@host:6379/0?durable=true&maxTtl=30000`, `redis+cluster://a:7000,b:7001` or
 * `redis+sentinel://a:26379,b:26379/mymaster`. The store has a client of its own, of the package `redis` or else of `ioredis`, which
 * connects on first use. `close()` ends the client.
 *
 * @param natMap for a Cluster or Sentinels whose servers are reached at other addresses than they tell
 * @throws InvalidOptionError when the URL has another form
 * @throws StoreError when neither package is installed
 */
export async function openRedis(url: string, natMap?: NatMap): Promise<DisposableStore> {
  const parsed = GROUP.test(url) ? parseGroupUrl(url, natMap) : parseUrl(url);
  return openParsed(await loadRedisDriver(), parsed, TIMEOUT);
}

/** The store of a URL with a given driver. */
export function openRedisWith(
  driver: RedisDriver,
  url: string,
  timeout = TIMEOUT,
  natMap?: NatMap,
): DisposableStore {
  return openParsed(driver, GROUP.test(url) ? parseGroupUrl(url, natMap) : parseUrl(url), timeout);
}

function openParsed(
  driver: RedisDriver,
  parsed: ParsedUrl | ParsedGroupUrl,
  timeout: number,
): DisposableStore {
  const begin = () =>
    'group' in parsed ? beginGroup(driver, parsed.group) : beginConnection(driver, parsed.target);
  const client = new OwnRedisClient(begin, timeout);
  return storeOn(
    client,
    { ...parsed.options, timeout: TIMEOUT + 50 },
    {
      at:
        'group' in parsed
          ? parsed.group.hosts.map(({ host, port }) => `${host}:${port}`).join(',')
          : addressOf(parsed.target.url, 6379),
      password: parsed.password,
      end: () => client.end(),
    },
  );
}

/** A URL of several servers, taken apart. */
interface ParsedGroupUrl {
  readonly group: RedisGroup;
  readonly options: RedisStoreOptions;
  readonly password: string;
}

const GROUP = /^rediss?\+(cluster|sentinel):/i;

/** The login, the hosts and the path of a URL. A URL of the standard has one host alone. */
const PARTS =
  /^redis(s?)\+(cluster|sentinel):\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^/?#]*)(?:\/([^/?#]*))?)?(\?[^#]*)?$/i;

const GROUP_FORM = {
  cluster: 'redis+cluster://user:password@host:7000,host:7001?maxTtl=60000',
  sentinel: 'redis+sentinel://user:password@host:26379,host:26379/master?maxTtl=60000',
};

/** @throws InvalidOptionError when the URL has another form; it shows nothing of the URL */
function parseGroupUrl(url: string, natMap: NatMap = {}): ParsedGroupUrl {
  const kind = GROUP.exec(url)?.[1]?.toLowerCase() as RedisGroup['kind'];
  const refuseForm = (why: string): never => {
    throw new InvalidOptionError(`a URL of a Redis ${kind} must look like ${GROUP_FORM[kind]}: ${why}`);
  };
  const [, secure, , login = '', list, path = '', second = '', search = ''] =
    PARTS.exec(url) ?? refuseForm('this one cannot be parsed');
  const [username = '', password = ''] = decodedLogin(login) ?? refuseForm('percent-encode the password');
  const hosts = (list as string).split(',').map((text) => {
    const [, host, port] =
      /^(\[[\da-f:]+\]|[\w.-]+)(?::(\d{1,5}))?$/i.exec(text.trim()) ?? refuseForm('a host is wrong');
    return {
      host: (host as string).replace(/^\[|\]$/g, ''),
      port: Number(port ?? (kind === 'cluster' ? 6379 : 26379)),
    };
  });
  const settings = new URLSearchParams(search);
  if (kind === 'cluster' && path !== '') refuseForm('a Cluster has no databases, and no path');
  if (kind === 'sentinel' && path === '') refuseForm('the path is the name of the master');
  const group = {
    kind,
    hosts,
    username,
    password,
    isEncrypted: secure !== '',
    master: decodeURIComponent(path),
  };
  return {
    group: { ...group, database: databaseOf(`/${second}`), natMap },
    password,
    options: optionsOf(settings),
  };
}

/** The user and the password of `user:password`; `undefined` if they cannot be decoded. */
function decodedLogin(login: string): string[] | undefined {
  try {
    const at = login.indexOf(':');
    return (at < 0 ? [login] : [login.slice(0, at), login.slice(at + 1)]).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** @throws InvalidOptionError naming a setting that is unknown or wrong */
function optionsOf(settings: URLSearchParams): RedisStoreOptions {
  requireSettings('a Redis URL', settings, ['durable', 'maxTtl']);
  const durable = requireChoice('durable', settings.get('durable') ?? 'false', ['false', 'true']);
  const maxTtl = settings.get('maxTtl');
  return { durable: durable === 'true', ...(maxTtl !== null && { maxTtl: Number(maxTtl) }) };
}

/** A Redis URL, taken apart. */
export interface ParsedUrl {
  readonly target: RedisTarget;
  readonly options: RedisStoreOptions;
  readonly password: string;
}

/** @throws InvalidOptionError when the URL has another form */
export function parseUrl(url: string): ParsedUrl {
  // The URL and the error of the parser hold the password, so neither is shown.
  const form = 'redis://user:password@host:6379/0?durable=false&maxTtl=30000';
  const parsed = /^rediss?:\/\/[^/?#]/i.test(url) ? parse(url) : undefined;
  if (parsed === undefined) throw new InvalidOptionError(`a Redis URL must look like ${form}`);
  const options = optionsOf(parsed.searchParams);
  const database = databaseOf(parsed.pathname);
  parsed.search = parsed.hash = parsed.pathname = '';
  return {
    target: { url: parsed.href, database },
    password: decodeURIComponent(parsed.password),
    options,
  };
}

/** The URL; `undefined` if it cannot be parsed or decoded. */
function parse(url: string): URL | undefined {
  try {
    const parsed = new URL(url);
    for (const part of [parsed.username, parsed.password]) decodeURIComponent(part);
    return parsed;
  } catch {
    return undefined;
  }
}

function databaseOf(path: string): number {
  const name = path.slice(1);
  if (/^\d{0,9}$/.test(name)) return Number(name);
  // A path with these signs may be a password that was not percent-encoded.
  const shown = /[@:%]/.test(name) ? '' : `, not ${show(name)}`;
  throw new InvalidOptionError(
    `the database of a Redis URL must be a number, as in redis://host:6379/0${shown}`,
  );
}

/**
 * The fields of `INFO` of the server of a URL, over a connection of its own. A script asks, because scripts are what every user of
 * a store may run.
 *
 * @throws Error of the driver when the server cannot be reached, or the user may not run `INFO`
 */
export async function redisInfo(url: string): Promise<ReadonlyMap<string, string>> {
  const { target } = parseUrl(url);
  const driver = await loadRedisDriver();
  const client = new OwnRedisClient(() => beginConnection(driver, target), TIMEOUT);
  try {
    const text = String(await client.evaluate('EVAL', "return redis.call('INFO')", [], []));
    return new Map(
      text.split('\r\n').flatMap((line): [string, string][] => {
        const [, name, value] = /^(\w+):(.*)$/.exec(line) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value]];
      }),
    );
  } finally {
    client.end();
  }
}

/** The hosts that the URL of a Redis Cluster or of Sentinels names, and the servers that these name. */
interface GroupAddresses {
  readonly hosts: readonly Address[];
  readonly servers: readonly Address[];
}

/** Asks a Redis Cluster, or Sentinels, for the addresses of all their servers. */
export async function groupAddresses(url: string): Promise<GroupAddresses> {
  const { group } = parseGroupUrl(url);
  return { hosts: group.hosts, servers: await serversOf(await loadRedisDriver(), group) };
}
