import { executionAsyncResource } from 'node:async_hooks';
import { lookup } from 'node:dns/promises';
import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, BlockList, type Socket } from 'node:net';
import process from 'node:process';
import type { FastifyInstance } from 'fastify';
import { InvalidOptionError } from 'idsmith';
import type { Settings } from '../config/settings.js';
import type { Log } from '../ops/log.js';
import type { Connections } from './connections.js';
import { DATA_HEADERS } from './headers.js';
import { type ProblemResponse, type ReportProblem, RequestProblem } from './problem.js';

/** The longest silence of a connection, ms. A response that the client does not read counts as silence, too. */
const IDLE_TIMEOUT = 60_000;

/** The interval of the search for requests that take too long to arrive, ms. */
const TIMEOUT_CHECK_INTERVAL = 500;

/** The parts that a Node server is made from. */
export interface ServerLimits {
  readonly settings: Settings;
  readonly connections: Connections;
  readonly log: Log;
  readonly report: ReportProblem;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes a Node server whose connections and requests are limited before Fastify sees them. */
export function makeServer(handler: Handler, parts: ServerLimits): Server {
  const { settings, connections, report, log } = parts;
  const { requestTimeout } = settings;
  const recorded = (problem: RequestProblem, method = 'unknown') => {
    log.request({ method, path: 'unknown', status: problem.status });
    return report(problem, { method, path: 'unknown' });
  };
  const refuse = (request: IncomingMessage, response: ServerResponse, problem: RequestProblem) =>
    refuseRequest(response, recorded(problem, request.method));
  const server = createServer(
    {
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
      headersTimeout: requestTimeout,
      requestTimeout,
      // Node would refuse such a request without a problem.
      requireHostHeader: false,
    },
    (request, response) => {
      const problem = connections.take(request, response) ?? protocolProblem(request);
      if (problem === undefined) handler(request, response);
      else refuse(request, response, problem);
    },
  );
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    refuse(request, response, unknownExpectation(request)),
  );
  server.on('connect', (request: IncomingMessage, socket: Socket) =>
    refuseConnection(socket, recorded(NO_PROXY, request.method)),
  );
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuseConnection(socket, recorded(connectionProblem(error.code, requestTimeout)));
  });
  server.keepAliveTimeout = IDLE_TIMEOUT;
  server.setTimeout(IDLE_TIMEOUT);
  connections.attach(server);
  return server;
}

const NO_PROXY = new RequestProblem(405, 'METHOD_NOT_ALLOWED', 'this server is no proxy');

function protocolProblem({ headers, httpVersion }: IncomingMessage): RequestProblem | undefined {
  if (headers.host !== undefined || httpVersion !== '1.1') return undefined;
  return new RequestProblem(400, 'MALFORMED', 'the request has no header Host');
}

function unknownExpectation({ headers }: IncomingMessage): RequestProblem {
  return new RequestProblem(
    417,
    'MALFORMED',
    `the header Expect may be 100-continue only, not ${JSON.stringify(headers.expect?.slice(0, 60))}`,
  );
}

/** The problem of a connection whose request cannot be parsed or takes too long to arrive. */
function connectionProblem(code: string | undefined, requestTimeout: number): RequestProblem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RequestProblem(408, 'TIMEOUT', `the request took longer than ${requestTimeout} ms to arrive`);
  if (code === 'HPE_HEADER_OVERFLOW')
    return new RequestProblem(
      431,
      'TOO_LARGE',
      `the path and the headers must have at most ${maxHeaderSize} bytes together`,
    );
  return new RequestProblem(400, 'MALFORMED', 'the request is not valid HTTP');
}

/** Answers a request that was parsed. */
function refuseRequest(response: ServerResponse, refusal: ProblemResponse): void {
  const { status, headers, body } = rawProblem(refusal);
  response.writeHead(status, headers).end(body);
}

/** Answers on a connection without a request object, and ends it. */
function refuseConnection(socket: Socket, refusal: ProblemResponse): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, title, headers, body } = rawProblem(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${title}`, 'connection: close', ...lines, '', body].join('\r\n'));
}

function rawProblem({ problem, headers }: ProblemResponse) {
  const body = JSON.stringify(problem);
  return {
    status: problem.status,
    title: problem.title,
    body,
    headers: {
      ...DATA_HEADERS,
      ...headers,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
    },
  };
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** @throws InvalidOptionError unless only this machine can reach the host */
export async function requireLoopback(host: string): Promise<void> {
  const addresses = await lookup(host, { all: true }).catch((cause: Error) => {
    throw new InvalidOptionError(`host must be an address of this machine, not ${JSON.stringify(host)}`, {
      cause,
    });
  });
  const isLoopback = addresses.every(({ address, family }) =>
    LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4'),
  );
  if (isLoopback) return;
  throw new InvalidOptionError(
    `host ${host} can be reached from other machines, and there is no token: ` +
      'create one with idsmith token create, or listen on 127.0.0.1',
  );
}

/**
 * Listens, and returns the URL.
 *
 * @throws InvalidOptionError when the address is not available
 */
export async function listen(app: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new InvalidOptionError(refusal(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
  const { port: actual } = app.server.address() as AddressInfo;
  return `http://${addressOf(host, actual)}`;
}

function addressOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A sentence with the address, the reason and the way out. */
function refusal({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  const address = addressOf(host, port);
  if (code === 'EADDRINUSE')
    return `another process listens on ${address}: take another port with --port, or a free one with --port 0`;
  if (code === 'EACCES')
    return `this user may not listen on ${address}: take a port from 1024 on with --port`;
  if (code === 'EADDRNOTAVAIL')
    return `${address} is no address of this machine: take another one with --host`;
  return `cannot listen on ${address}: ${message}`;
}

/** The object of one call of `nextTick`. */
const kept: object[] = [];

/**
 * Keeps `process.nextTick` fast. Node calls it several times for each response.
 *
 * Node makes an object for each call. A garbage collection that finds none of these objects alive frees their hidden class. When that
 * happens while a server starts, V8 takes a slow path for each later object, for as long as the process lives: a fifth of the processor
 * time of a small response. One object that stays alive keeps the hidden class.
 */
export function keepTicksFast(): void {
  if (kept.length === 0) process.nextTick(() => kept.push(executionAsyncResource()));
}
