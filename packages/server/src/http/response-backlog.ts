import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RETRY_SOON, RequestProblem } from './problem.js';

/** The most responses that may wait on one connection. */
const MAX_PIPELINED = 32;

/** The most characters of all responses that wait to be read by their clients. */
const MAX_SIZE = 32 * 2 ** 20;

/** Smaller responses are counted only behind others on the same connection: the number of connections is limited anyway. */
const LARGE = 16_384;

/** The responses that wait on one connection. */
interface ConnectionBacklog {
  responses: number;
  size: number;
}

/**
 * Limits the responses that wait to be read. A client may pipeline many requests or read nothing: Node makes a response to every
 * request that has arrived, and keeps each response in memory until the client reads it.
 */
export class ResponseBacklog {
  readonly #connections = new Map<Socket, ConnectionBacklog>();
  #size = 0;

  /** @throws RequestProblem 503 when too many responses wait to be read */
  check({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
    if (this.#size > MAX_SIZE) throw overloaded('too many responses wait to be read');
    if (isBehind(response) && (this.#connections.get(socket)?.responses ?? 0) >= MAX_PIPELINED)
      throw overloaded('too many requests were pipelined on this connection');
  }

  /** Counts a response until it is fully written. */
  add(socket: Socket, response: ServerResponse, size: number): void {
    if (size < LARGE && !isBehind(response)) return;
    const connection = this.#connections.get(socket) ?? this.#addConnection(socket);
    connection.responses++;
    connection.size += size;
    this.#size += size;
    response.once('finish', () => {
      // The end of a connection has subtracted all of its responses at once.
      if (this.#connections.get(socket) !== connection) return;
      connection.responses--;
      connection.size -= size;
      this.#size -= size;
    });
  }

  #addConnection(socket: Socket): ConnectionBacklog {
    const connection = { responses: 0, size: 0 };
    this.#connections.set(socket, connection);
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#size -= connection.size;
    });
    return connection;
  }
}

/** True if an earlier response on the same connection is not finished yet. */
const isBehind = (response: ServerResponse) => response.socket === null;

const overloaded = (detail: string) => new RequestProblem(503, 'OVERLOADED', detail, RETRY_SOON);
