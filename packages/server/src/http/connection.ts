import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One open connection, as far as its limits need to know it. */
export class Connection {
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
  #written = 0;
  #progressAt = 0;

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
    this.#written = this.#bytesTaken;
    this.#progressAt = now;
  }

  /** The time at which the client was last seen to read, ms: now, when this was asked before, or when responses began to wait. */
  progressAt(now: number): number {
    const written = this.#bytesTaken;
    if (written > this.#written) this.#progressAt = now;
    this.#written = written;
    return this.#progressAt;
  }

  /** The bytes that the machine has taken for the client. */
  get #bytesTaken(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }
}
