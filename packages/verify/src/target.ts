import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ShardConfig } from '@idsmith/shard';
import { InvalidOptionError, type Store } from 'idsmith';
import { groupAddresses, type NatMap, openRedis, schemeOf } from 'idsmith/internal/stores';
import { openStore } from 'idsmith/stores';

/** A store under test, as every process of a run opens it for itself: a URL, or a module that exports `openStore`. */
export type StoreTarget = UrlTarget | { readonly module: string };

/** The URL of a store. */
interface UrlTarget {
  readonly url: string;
  /** Where to reach the servers of a Redis Cluster or of Sentinels, if not where these name them. */
  readonly natMap?: NatMap;
}

/** A store, or the nodes of sharded keys. */
export type Target = StoreTarget | { readonly shards: ShardConfig };

/** @throws InvalidOptionError when the module does not export a function that opens a store */
export async function openTarget(target: StoreTarget): Promise<Store> {
  if ('url' in target) return target.natMap ? openRedis(target.url, target.natMap) : openStore(target.url);
  const open = await loadOpener(target.module);
  const store = (await open()) as Store | undefined;
  if (typeof store?.swapLease !== 'function' || typeof store.allocate !== 'function')
    throw new InvalidOptionError(
      `--store-module ${target.module}: openStore() must return a store of leases and sequences`,
    );
  return store;
}

async function loadOpener(file: string): Promise<() => unknown> {
  const loaded = await import(pathToFileURL(resolve(file)).href).catch((cause: Error) => {
    throw new InvalidOptionError(`--store-module ${file} cannot be loaded: ${cause.message}`, { cause });
  });
  const open = loaded.openStore ?? loaded.default;
  if (typeof open === 'function') return open;
  throw new InvalidOptionError(
    `--store-module ${file} must export a function openStore that returns a store`,
  );
}

/** The address of a server. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** The servers of a store, and the same store with other addresses for them. */
export interface Route {
  readonly places: readonly Place[];
  through(places: readonly Place[]): UrlTarget;
}

/** The port of each kind of server whose URL names host and port, and that a proxy without certificates can stand before. */
const PORTS: Readonly<Record<string, number>> = {
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mariadb: 3306,
  redis: 6379,
  http: 80,
};

/** Settings of a URL with which the host is not the one in the URL, or the connection is encrypted. */
const ELSEWHERE = ['host', 'port', 'socketPath', 'ssl', 'sslmode', 'sslrootcert'];

/**
 * The way to the servers of a store; `undefined` if no proxy can stand before them: no server, or TLS. A Redis Cluster and Sentinels are asked for
 * their servers.
 *
 * @throws Error of the driver when they do not answer
 */
export async function routeOf(url: string): Promise<Route | undefined> {
  const scheme = schemeOf(url);
  if (GROUPS.includes(scheme)) return groupRoute(url);
  if (scheme === 'etcd') return etcdRoute(url);
  if (scheme === 'dynamodb') return dynamodbRoute(url);
  return PORTS[scheme] === undefined ? undefined : plainRoute(url, PORTS[scheme]);
}

const GROUPS: readonly string[] = ['redis+cluster', 'redis+sentinel'];

const textOf = ({ host, port }: Place) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** A group names the addresses of its servers itself, so clients are told to reach them elsewhere. Sentinels have proxies of their own. */
async function groupRoute(url: string): Promise<Route | undefined> {
  const { hosts, servers } = await groupAddresses(url);
  // A Cluster that does not know the address of a server means the one at which it was asked.
  if (servers.some(({ host }) => host === '' || host === 'null')) return undefined;
  const places = new Map([...hosts, ...servers].map((place) => [textOf(place), place]));
  const keys = [...places.keys()];
  return {
    places: [...places.values()],
    through: (others) => {
      const elsewhere = (place: Place) => others[keys.indexOf(textOf(place))] as Place;
      const list = hosts.map((host) => textOf(elsewhere(host))).join(',');
      return {
        url: url.replace(/^([^:]+:\/\/(?:[^@/]*@)?)[^@/?#]+/, (_, before: string) => before + list),
        natMap: Object.fromEntries(
          servers.map((server) => [`${server.host}:${server.port}`, elsewhere(server)]),
        ),
      };
    },
  };
}

function plainRoute(url: string, defaultPort: number): Route | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, searchParams } = new URL(url);
  if (hostname === '' || ELSEWHERE.some((name) => searchParams.has(name))) return undefined;
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
  return { places: [place], through: ([other]) => ({ url: withPlace(url, other as Place) }) };
}

function withPlace(url: string, { host, port }: Place): string {
  const parsed = new URL(url);
  parsed.hostname = host;
  parsed.port = String(port);
  return parsed.href;
}

function etcdRoute(url: string): Route | undefined {
  const [, hosts = '', rest = ''] = /^etcd:\/\/([^/?#]+)(.*)$/i.exec(url) ?? [];
  if (hosts === '' || /[?&]tls=true/.test(rest)) return undefined;
  const places = hosts.split(',').map((each) => {
    const [, host = each, port = '2379'] = /^(.*):(\d+)$/.exec(each) ?? [];
    return { host, port: Number(port) };
  });
  return {
    places,
    through: (others) => ({ url: `etcd://${others.map(textOf).join(',')}${rest}` }),
  };
}

function dynamodbRoute(url: string): Route | undefined {
  const [base = '', query = ''] = url.split('?');
  const settings = new URLSearchParams(query);
  const endpoint = settings.get('endpoint') ?? '';
  if (schemeOf(endpoint) !== 'http') return undefined;
  const route = plainRoute(endpoint, 80);
  return (
    route && {
      places: route.places,
      through: (others) => {
        settings.set('endpoint', route.through(others).url);
        return { url: `${base}?${settings}` };
      },
    }
  );
}
