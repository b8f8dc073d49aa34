import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { problemResponseOf, RETRY_SOON, RequestProblem } from './problem.js';

/** Refuses connections beyond `max` with a 503, and beyond twice that number without a response. */
export function limitConnections(server: Server, max: number): void {
  let open = 0;
  server.maxConnections = 2 * max;
  server.on('connection', (socket: Socket) => {
    open++;
    socket.once('close', () => open--);
    if (open > max)
      refuse(
        socket,
        new RequestProblem(503, 'OVERLOADED', `${max} connections are already open`, RETRY_SOON),
      );
  });
}

/** Refuses a connection whose request cannot be parsed or takes too long to arrive. No request object exists then. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    refuse(socket, new RequestProblem(408, 'TIMEOUT', 'the request took too long to arrive'));
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    refuse(socket, new RequestProblem(431, 'TOO_LARGE', 'the headers are too large'));
  else refuse(socket, new RequestProblem(400, 'MALFORMED', 'the request is not valid HTTP'));
}

function refuse(socket: Socket, error: RequestProblem): void {
  if (!socket.writable) return;
  const { problem, headers } = problemResponseOf(error);
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
