import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { schemeOf } from 'idsmith/internal/stores';

/** What a half-open connection loses: all that is sent, or the server's answers to requests that reach it. */
export type Loss = 'everything' | 'answers';

/** The address of a server. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** One client's connection and its continuation to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Set once the connection is half-open. It stays half-open then: nobody is told, and nothing is sent again. */
  lost?: Loss;
}

/** A TCP proxy on 127.0.0.1 that can break the connections through it. */
export class FaultyProxy {
  readonly #target: Place;
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  #isCut = false;
  #delay = 0;
  #loss: Loss | undefined;

  private constructor(target: Place) {
    this.#target = target;
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** Opens a proxy before a server, which may be a port of this machine. */
  static async before(target: Place | number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(typeof target === 'number' ? { host: '127.0.0.1', port: target } : target);
    await new Promise<void>((listening) => proxy.#listener.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  /** The port for clients. */
  get port(): number {
    return (this.#listener.address() as { port: number }).port;
  }

  /** The address for clients. */
  get place(): Place {
    return { host: '127.0.0.1', port: this.port };
  }

  /** Resets every connection. */
  reset(): void {
    for (const link of this.#links) reset(link);
  }

  /** Resets every connection, and each new one, until it is healed. */
  cut(): void {
    this.#isCut = true;
    this.reset();
  }

  /** Holds back everything that is sent by this many ms, until it is healed. */
  delay(ms: number): void {
    this.#delay = ms;
  }

  /** Forwards nothing more on any connection, and nothing on new ones until it is healed. All of them stay open. */
  halfOpen(loss: Loss): void {
    this.#loss = loss;
    for (const link of this.#links) link.lost = loss;
  }

  /** Lets new connections work again. Half-open ones stay so, as after a router has forgotten them. */
  heal(): void {
    this.#isCut = false;
    this.#delay = 0;
    this.#loss = undefined;
  }

  /** Ends the proxy, with all connections. */
  async close(): Promise<void> {
    this.cut();
    await new Promise((closed) => this.#listener.close(closed));
  }

  #accept(client: Socket): void {
    const server = dial(this.#target.port, this.#target.host);
    const link: Link = { client, server, ...(this.#loss && { lost: this.#loss }) };
    this.#links.add(link);
    this.#forward(client, server, () => link.lost === 'everything');
    this.#forward(server, client, () => link.lost !== undefined);
    if (this.#isCut) reset(link);
    client.on('close', () => {
      this.#links.delete(link);
      server.destroy();
    });
  }

  /** Forwards in order, also when the delay changes while something is held back. */
  #forward(from: Socket, to: Socket, isLost: () => boolean): void {
    let last = Promise.resolve();
    const later = (send: () => void) => {
      const due = Date.now() + this.#delay;
      last = last.then(async () => {
        if (due > Date.now()) await sleep(due - Date.now());
        if (!isLost() && !to.destroyed) send();
      });
    };
    from.on('data', (chunk) => later(() => to.write(chunk)));
    from.on('end', () => later(() => to.end()));
    from.on('close', (hadError) => later(() => (hadError ? resetSocket(to) : to.end())));
    // 'close' passes the failure on.
    from.on('error', () => {});
  }
}

function reset({ client, server }: Link): void {
  resetSocket(client);
  server.destroy();
}

/** Ends a connection so that the other side gets an error, unless this side has said that it sends no more. */
export function resetSocket(socket: Socket): void {
  // Node keeps the handle of such a socket for ever if it is reset, and the process does not end.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
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
