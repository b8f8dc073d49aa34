import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DATA_HEADERS } from './headers.js';
import { problemResponseOf, RequestProblem } from './problem.js';

// Refusals that do not pass through Fastify.

/** Refuses a request that was parsed. */
export function refuseRequest(response: ServerResponse, error: RequestProblem): void {
  const { status, headers, body } = rawProblem(error);
  response.writeHead(status, { ...DATA_HEADERS, ...headers }).end(body);
}

/** Refuses a connection whose request cannot be parsed or takes too long to arrive. No request object exists then. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    refuseSocket(socket, new RequestProblem(408, 'TIMEOUT', 'the request took too long to arrive'));
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    refuseSocket(socket, new RequestProblem(431, 'TOO_LARGE', 'the headers are too large'));
  else refuseSocket(socket, new RequestProblem(400, 'MALFORMED', 'the request is not valid HTTP'));
}

function refuseSocket(socket: Socket, error: RequestProblem): void {
  if (!socket.writable) return;
  const { status, title, headers, body } = rawProblem(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${title}`, 'connection: close', ...lines, '', body].join('\r\n'));
}

function rawProblem(error: RequestProblem) {
  const { problem, headers } = problemResponseOf(error);
  const body = JSON.stringify(problem);
  return {
    ...{ status: problem.status, title: problem.title, body },
    headers: {
      ...headers,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
    },
  };
}
