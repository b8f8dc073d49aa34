import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import { RETRY_SOON, RequestProblem } from './problem.js';

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

/** The most bytes of all responses that wait to be read by their clients, about. */
const MAX_WAITING = 32 * 2 ** 20;

/** The share of that size that is left when connections were ended. */
const SHARE_LEFT = 0.75;

/** The idle time after which a connection may be closed to make room for a new one, ms. */
const IDLE_ENOUGH = 5000;

/** The silence after which a connection without a request is closed when the server ends, ms. */
const QUIET = 1000;

/** The interval of the search for such connections, ms. */
const DRAIN_INTERVAL = 25;

/** The paths that are served on connections beyond the limit, so that a server under attack is not taken for a dead one. */
const PROBES = /^\/(healthz|readyz)(\?|$)/;

/** One open connection. */
class Connection {
  readonly socket: Socket;
  /** True if the connection is beyond the limit. It serves one request of a probe, and ends. */
  readonly isSurplus: boolean;
  /** The response to the newest request. */
  latest: ServerResponse | undefined;
  /** The time of the newest request, or of the connection, ms. */
  usedAt: number;
  /** The number of responses that wait behind an unfinished one. */
  behind = 0;
  /** The bytes of the responses that wait to be read, about. */
  size = 0;
  /** The bytes that the machine had taken for the client when it was last seen to read, and the time of that, ms. */
  #taken = 0;
  #readAt = 0;

  constructor(socket: Socket, isSurplus: boolean, now: number) {
    this.socket = socket;
    this.isSurplus = isSurplus;
    this.usedAt = now;
  }

  /** True if no request is being served. Responses are finished in order, so the newest one decides. */
  get isIdle(): boolean {
    return this.latest === undefined || this.latest.writableFinished;
  }

  /** Records that responses begin to wait: from now on, the client should read. */
  startWaiting(now: number): void {
    this.#taken = this.#bytesTaken;
    this.#readAt = now;
  }

  /** The time at which the client was last seen to read, ms: now, when this was asked before, or when responses began to wait. */
  readAt(now: number): number {
    if (this.#bytesTaken > this.#taken) this.#readAt = now;
    this.#taken = this.#bytesTaken;
    return this.#readAt;
  }

  get #bytesTaken(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }
}

/**
 * The open connections of a server, and their limits: how many there are, how many requests wait on each, and how many bytes of
 * responses wait to be read. Node keeps each response in memory until its client reads it. When too many wait, the connections
 * whose clients have not read for the longest time are ended, and all others are served on.
 */
export class Connections {
  /** The Node servers: one for each address of the host. */
  readonly #servers: HttpServer[] = [];
  readonly #max: number;
  readonly #now: () => number;
  /** The connections, the least recently used first. */
  readonly #open = new Map<Socket, Connection>();
  /** Connections beyond the limit, oldest first. */
  readonly #surplus = new Set<Connection>();
  /** Connections with responses that wait to be read, and the bytes of all. */
  readonly #waiting = new Set<Connection>();
  #waitingSize = 0;
  /** True when the server ends. Each response is the last one of its connection then. */
  #isDraining = false;

  /** @param max the most connections; as many again are open to probes */
  constructor(max: number, now = () => performance.now()) {
    this.#max = max;
    this.#now = now;
  }

  /** Adds the connections of a server, from now on. */
  attach(server: HttpServer): void {
    this.#servers.push(server);
    server.on('connection', (socket) => this.add(socket));
  }

  /** Adds a new connection. The oldest of those beyond the limit are ended when there are too many. */
  add(socket: Socket): void {
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
    this.#open.delete(socket);
    this.#open.set(socket, connection);
    if (this.#isDraining) response.shouldKeepAlive = false;
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
    this.#wait(connection, response, OVERHEAD);
    if (connection.behind > MAX_BEHIND) connection.socket.destroy();
    else if (connection.behind <= MAX_PIPELINED && connection.size <= MAX_PIPELINED_SIZE) return undefined;
    return overloaded('too many requests were pipelined on this connection');
  }

  /** Counts the body of a response that was written, until it is read. @param size in characters */
  hold(socket: Socket, response: ServerResponse, size: number): void {
    // The machine takes most bodies at once. Then nothing waits here.
    if (response.socket !== null && (size < LARGE || socket.writableLength === 0)) return;
    const connection = this.#open.get(socket);
    if (connection !== undefined) this.#wait(connection, response, size);
  }

  /**
   * Ends the connections without cutting off a request. No connection is accepted any more. Each open connection gets the answer
   * to one more request, with `Connection: close`: a client that has just sent a request is not reset. A connection that stays
   * quiet is closed. After `grace` ms, all that are left are cut.
   */
  drain(grace: number): Promise<void> {
    const started = this.#now();
    const quiet = Math.min(QUIET, grace);
    this.#isDraining = true;
    // The method of HTTP servers would close all idle connections.
    for (const server of this.#servers) if (server.listening) Server.prototype.close.call(server);
    for (const { latest } of this.#open.values())
      if (latest !== undefined && !latest.headersSent) latest.shouldKeepAlive = false;
    return new Promise((resolve) => {
      const check = () => {
        const now = this.#now();
        const isOver = now - started >= grace;
        for (const { socket, isIdle, usedAt } of this.#open.values()) {
          if (isOver) socket.destroy();
          else if (isIdle && now - Math.max(started, usedAt) >= quiet) socket.destroySoon();
        }
        if (this.#open.size > 0 && !isOver) return;
        clearInterval(timer);
        resolve();
      };
      const timer = setInterval(check, DRAIN_INTERVAL);
      check();
    });
  }

  get #isFull(): boolean {
    return this.#open.size - this.#surplus.size >= this.#max;
  }

  /** Closes the connection that was idle for the longest time, if that is long enough. */
  #closeIdle(now: number): void {
    for (const connection of this.#open.values()) {
      if (now - connection.usedAt < IDLE_ENOUGH) return;
      if (connection.isSurplus || !connection.isIdle) continue;
      this.#remove(connection);
      connection.socket.destroySoon();
      return;
    }
  }

  /** Counts a response until it is fully written. */
  #wait(connection: Connection, response: ServerResponse, size: number): void {
    if (connection.size === 0) {
      connection.startWaiting(this.#now());
      this.#waiting.add(connection);
    }
    this.#addWaiting(connection, size);
    response.once('finish', () => this.#addWaiting(connection, -size));
    if (this.#waitingSize > MAX_WAITING) this.#shed();
  }

  #addWaiting(connection: Connection, size: number): void {
    if (!this.#waiting.has(connection)) return;
    connection.size += size;
    this.#waitingSize += size;
    if (connection.size === 0) this.#waiting.delete(connection);
  }

  /** Ends connections whose clients do not read, until enough bytes are free again. */
  #shed(): void {
    const now = this.#now();
    const waiting = [...this.#waiting]
      .map((connection) => ({ connection, readAt: connection.readAt(now) }))
      .sort((a, b) => a.readAt - b.readAt || b.connection.size - a.connection.size);
    for (const { connection } of waiting) {
      if (this.#waitingSize <= MAX_WAITING * SHARE_LEFT) return;
      this.#forgetWaiting(connection);
      connection.socket.destroy();
    }
  }

  #forgetWaiting(connection: Connection): void {
    if (this.#waiting.delete(connection)) this.#waitingSize -= connection.size;
  }

  #remove(connection: Connection): void {
    if (this.#open.get(connection.socket) !== connection) return;
    this.#open.delete(connection.socket);
    this.#surplus.delete(connection);
    this.#forgetWaiting(connection);
  }
}

const overloaded = (detail: string) => new RequestProblem(503, 'OVERLOADED', detail, RETRY_SOON);
