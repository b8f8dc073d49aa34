import { schemeOf } from '../../stores/url.js';
import type { Place } from './proxy.js';

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

/** The servers of a store, and the URL of the same store with other addresses for them. */
export interface Route {
  readonly places: readonly Place[];
  through(places: readonly Place[]): string;
}

/** The way to the servers of a store; `undefined` if no proxy can stand before them: no server, or TLS. */
export function routeOf(url: string): Route | undefined {
  const scheme = schemeOf(url);
  if (scheme === 'etcd') return etcdRoute(url);
  if (scheme === 'dynamodb') return dynamodbRoute(url);
  return PORTS[scheme] === undefined ? undefined : plainRoute(url, PORTS[scheme]);
}

function plainRoute(url: string, defaultPort: number): Route | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, searchParams } = new URL(url);
  if (hostname === '' || ELSEWHERE.some((name) => searchParams.has(name))) return undefined;
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
  return { places: [place], through: ([other]) => withPlace(url, other as Place) };
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
    through: (others) => `etcd://${others.map(({ host, port }) => `${host}:${port}`).join(',')}${rest}`,
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
        settings.set('endpoint', route.through(others));
        return `${base}?${settings}`;
      },
    }
  );
}
