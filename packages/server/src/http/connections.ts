import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { RequestProblem, troubleOf } from './problem.js';

/** Refuses those who connect when there are too many already: with an answer, and far beyond that without. */
export function limitConnections(server: Server, most: number): void {
  let open = 0;
  server.maxConnections = 2 * most;
  server.on('connection', (socket: Socket) => {
    open++;
    socket.once('close', () => open--);
    if (open > most)
      refuse(socket, new RequestProblem(503, 'OVERLOADED', `there are ${most} connections already`, SOON));
  });
}

const SOON = { 'retry-after': '1' };

/** What cannot be parsed, or takes too long to arrive, has no request to be answered: only a connection. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    refuse(socket, new RequestProblem(408, 'TIMEOUT', 'the request took too long to arrive'));
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    refuse(socket, new RequestProblem(431, 'TOO_LARGE', 'the headers are too large'));
  else refuse(socket, new RequestProblem(400, 'MALFORMED', 'this is not HTTP as it should be'));
}

function refuse(socket: Socket, error: RequestProblem): void {
  if (!socket.writable) return;
  const { problem, headers } = troubleOf(error);
  const body = JSON.stringify(problem);
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${problem.title}`,
      'Connection: close',
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  );
}
