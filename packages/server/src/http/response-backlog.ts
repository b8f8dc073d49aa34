import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestProblem } from './problem.js';

/** How many requests may be sent ahead on one connection. */
const MOST_AHEAD = 32;

/** How many characters of answers may be on their way to those who should read them. */
const MOST_IN_TRANSIT = 32 * 2 ** 20;

/** Smaller answers are counted only if others are ahead of them: the connections themselves are counted. */
const LARGE = 16_384;

interface Load {
  answers: number;
  size: number;
}

/**
 * Keeps count of answers that wait to be taken. A client may send many requests ahead, or read nothing: Node makes all answers to
 * what arrives in one piece, and keeps them until they are read.
 */
export class Transit {
  readonly #loads = new Map<Socket, Load>();
  #size = 0;

  /** @throws RequestProblem 503 when too many answers wait to be taken */
  check({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
    if (this.#size > MOST_IN_TRANSIT) throw overloaded('too many answers wait to be read');
    if (isBehind(response) && (this.#loads.get(socket)?.answers ?? 0) >= MOST_AHEAD)
      throw overloaded('too many requests were sent ahead on this connection');
  }

  /** An answer of that size is about to leave. */
  leave(socket: Socket, response: ServerResponse, size: number): void {
    if (size < LARGE && !isBehind(response)) return;
    const load = this.#loads.get(socket) ?? this.#begin(socket);
    load.answers++;
    load.size += size;
    this.#size += size;
    response.once('finish', () => {
      // Those of a connection that has ended were taken off together.
      if (this.#loads.get(socket) !== load) return;
      load.answers--;
      load.size -= size;
      this.#size -= size;
    });
  }

  #begin(socket: Socket): Load {
    const load = { answers: 0, size: 0 };
    this.#loads.set(socket, load);
    socket.once('close', () => {
      this.#loads.delete(socket);
      this.#size -= load.size;
    });
    return load;
  }
}

/** Whether the connection belongs to the answer before this one. */
const isBehind = (response: ServerResponse) => response.socket === null;

function overloaded(detail: string): RequestProblem {
  return new RequestProblem(503, 'OVERLOADED', detail, { 'retry-after': '1' });
}
