import type { ServerResponse } from 'node:http';
import type { Connection } from './connection.js';

/** The most bytes of all responses that wait to be read by their clients, about. */
const MAX_SIZE = 32 * 2 ** 20;

/** The share of that size that is left when connections were ended. */
const SHARE_LEFT = 0.75;

/**
 * Limits the responses that wait to be read. Node keeps each response in memory until the client reads it. When too many wait, the
 * connections whose clients have not read for the longest time are ended, and all others are served on.
 */
export class ResponseBacklog {
  readonly #waiting = new Set<Connection>();
  readonly #now: () => number;
  #size = 0;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a response until it is fully written. */
  add(connection: Connection, response: ServerResponse, size: number): void {
    if (connection.size === 0) {
      connection.startWaiting(this.#now());
      this.#waiting.add(connection);
    }
    this.#change(connection, size);
    response.once('finish', () => this.#change(connection, -size));
    if (this.#size > MAX_SIZE) this.#shed();
  }

  /** Forgets a connection that has ended, and all of its responses. */
  forget(connection: Connection): void {
    if (this.#waiting.delete(connection)) this.#size -= connection.size;
  }

  #change(connection: Connection, size: number): void {
    if (!this.#waiting.has(connection)) return;
    connection.size += size;
    this.#size += size;
    if (connection.size === 0) this.#waiting.delete(connection);
  }

  #shed(): void {
    const now = this.#now();
    const connections = [...this.#waiting]
      .map((connection) => ({ connection, progressAt: connection.progressAt(now) }))
      .sort((a, b) => a.progressAt - b.progressAt || b.connection.size - a.connection.size);
    for (const { connection } of connections) {
      if (this.#size <= MAX_SIZE * SHARE_LEFT) return;
      this.forget(connection);
      connection.socket.destroy();
    }
  }
}
