import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Connection } from './connection.js';
import { RETRY_SOON, RequestProblem } from './problem.js';
import { ResponseBacklog } from './response-backlog.js';

/** The most responses that may wait on one connection. Further requests get 503. */
const MAX_PIPELINED = 32;

/** The most bytes of responses that may wait on one connection. Further requests get 503. */
const MAX_PIPELINED_SIZE = 4 * 2 ** 20;

/** The most responses that may wait on one connection, refusals included. A client that sends on without reading is cut off. */
const MAX_BEHIND = 256;

/** The memory of a waiting response besides its body, bytes, about. */
const OVERHEAD = 4096;

/** Smaller bodies are counted only behind others on the same connection: the number of connections is limited anyway. */
const LARGE = 16_384;

/** The idle time after which a connection may be closed to make room for a new one, ms. */
const IDLE_ENOUGH = 5000;

/** The shortest time between two searches for idle connections, ms. */
const SEARCH_INTERVAL = 100;

/** The paths that are served on connections beyond the limit, so that a server under attack is not taken for a dead one. */
const PROBES = /^\/(healthz|readyz)(\?|$)/;

/** The open connections of a server, and their limits. */
export class Connections {
  /** The Node servers: one for each address of the host. */
  readonly servers: Server[] = [];
  /** True when the server ends. Each response is the last one of its connection then. */
  isDraining = false;
  readonly #backlog: ResponseBacklog;
  readonly #max: number;
  readonly #now: () => number;
  readonly #open = new Map<Socket, Connection>();
  /** Connections beyond the limit, oldest first. */
  readonly #surplus = new Set<Connection>();
  #searchedAt = Number.NEGATIVE_INFINITY;

  /** @param max the most connections; as many again are open to probes */
  constructor(max: number, now = () => performance.now()) {
    this.#max = max;
    this.#now = now;
    this.#backlog = new ResponseBacklog(now);
  }

  /** All open connections. */
  get all(): Iterable<Connection> {
    return this.#open.values();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Adds the connections of a server, from now on. */
  attach(server: Server): void {
    this.servers.push(server);
    server.on('connection', (socket) => this.#add(socket));
  }

  /** Adds a new connection. The oldest of those beyond the limit are ended when there are too many. */
  #add(socket: Socket): void {
    const now = this.#now();
    if (this.#isFull) this.#closeIdle(now);
    const connection = new Connection(socket, this.#isFull, now);
    this.#open.set(socket, connection);
    socket.once('close', () => this.#remove(connection));
    if (!connection.isSurplus) return;
    this.#surplus.add(connection);
    const [oldest] = this.#surplus;
    if (this.#surplus.size > this.#max) oldest?.socket.destroy();
  }

  /**
   * Takes a request.
   *
   * @returns the reason why the request is refused; `undefined` if it is served
   */
  take({ socket, url = '' }: IncomingMessage, response: ServerResponse): RequestProblem | undefined {
    const connection = this.#open.get(socket);
    if (connection === undefined) return undefined;
    connection.latest = response;
    connection.usedAt = this.#now();
    if (this.isDraining) response.shouldKeepAlive = false;
    if (connection.isSurplus) {
      response.shouldKeepAlive = false;
      if (!PROBES.test(url)) return overloaded(`${this.#max} connections are already open`);
    }
    // A response without a socket waits behind an earlier one on the same connection.
    return response.socket === null ? this.#takeBehind(connection, response) : undefined;
  }

  #takeBehind(connection: Connection, response: ServerResponse): RequestProblem | undefined {
    connection.behind++;
    response.once('close', () => connection.behind--);
    this.#backlog.add(connection, response, OVERHEAD);
    if (connection.behind > MAX_BEHIND) connection.socket.destroy();
    else if (connection.behind <= MAX_PIPELINED && connection.size <= MAX_PIPELINED_SIZE) return undefined;
    return overloaded('too many requests were pipelined on this connection');
  }

  /** Counts the body of a response that was written, until it is read. @param size in characters */
  hold(socket: Socket, response: ServerResponse, size: number): void {
    // The machine takes most bodies at once. Then nothing waits here.
    if (response.socket !== null && (size < LARGE || socket.writableLength === 0)) return;
    const connection = this.#open.get(socket);
    if (connection !== undefined) this.#backlog.add(connection, response, size);
  }

  get #isFull(): boolean {
    return this.#open.size - this.#surplus.size >= this.#max;
  }

  /** Closes a hundredth of the connections, those that were idle for the longest time. */
  #closeIdle(now: number): void {
    if (now - this.#searchedAt < SEARCH_INTERVAL) return;
    this.#searchedAt = now;
    const idle = [...this.#open.values()]
      .filter((each) => !each.isSurplus && each.isIdle && now - each.usedAt >= IDLE_ENOUGH)
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const connection of idle.slice(0, Math.ceil(this.#max / 100))) {
      this.#remove(connection);
      connection.socket.destroySoon();
    }
  }

  #remove(connection: Connection): void {
    if (this.#open.get(connection.socket) !== connection) return;
    this.#open.delete(connection.socket);
    this.#surplus.delete(connection);
    this.#backlog.forget(connection);
  }
}

const overloaded = (detail: string) => new RequestProblem(503, 'OVERLOADED', detail, RETRY_SOON);
