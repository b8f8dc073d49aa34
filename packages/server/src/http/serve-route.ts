import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Metrics, PROBES } from '../ops/metrics.js';
import type { Connections } from './connections.js';
import { DATA_HEADERS, headersOf, REQUEST_ID } from './headers.js';
import type { IdempotencyCache, IdempotentRequest } from './idempotency-cache.js';
import { invalidRequest, RETRY_SOON, RequestProblem } from './problem.js';
import type { ResponseBody, Route } from './route.js';
import { record } from './schemas.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Limits the number of requests that wait for the store, so that a slow store does not fill the memory. */
export class InFlightLimit {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of requests that wait at present. */
  get count(): number {
    return this.#count;
  }

  /** @throws RequestProblem 503 when the limit is reached */
  check(): void {
    if (this.#count < this.#max) return;
    throw new RequestProblem(
      503,
      'OVERLOADED',
      `${this.#max} requests already wait for the store`,
      RETRY_SOON,
    );
  }

  /** Counts a request until `work` has settled. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await work;
    } finally {
      this.#count--;
    }
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The time of the arrival by `performance.now()`, ms. */
    arrivedAt: number;
  }
}

/** The seconds since a time of `performance.now()`. Fastify's `elapsedTime` is 0 on routes without a hook `onResponse`. */
export function secondsSince(ms: number): number {
  return (performance.now() - ms) / 1000;
}

/** The parts that every request and its response pass through. */
export interface ServingParts {
  /** Makes the check of the callers of a route. The check lets a request pass, or throws a `RequestProblem`. */
  readonly guard: (route: Route) => (request: FastifyRequest) => void;
  readonly metrics: Metrics;
  readonly inFlight: InFlightLimit;
  readonly idempotency: IdempotencyCache;
  readonly connections: Connections;
}

/**
 * Serves a route. A request passes, in this order, the check of its caller, the schemas of the route, the memory of idempotency keys, the
 * limit of requests in flight, and the route's own handler.
 */
export function serveRoute(app: FastifyInstance, route: Route, parts: ServingParts): void {
  const { method, path, params, query, body } = route;
  const guard = parts.guard(route);
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    schema: {
      ...(params && { params: record(params) }),
      querystring: record(query ?? {}, Object.keys(query ?? {})),
      ...(body && { body }),
    },
    config: { path },
    onRequest(request, _reply, done) {
      try {
        guard(request);
      } catch (error) {
        done(error as Error);
        return;
      }
      done();
    },
    handler: responder(route, parts),
  });
}

/** Makes Fastify's handler of a route: calls the route, and sends what the route returns. */
function responder(route: Route, { inFlight, idempotency, metrics, connections }: ServingParts) {
  const { status = 200, contentType = JSON_TYPE, method, path, waitsForStore = false } = route;
  const { isConstant = false, isAscii = false, hasEtag = false } = route;
  const headers = headersOf(contentType);
  const succeeded = metrics.requests.of(method, path, String(status));
  const durations = metrics.durationsOf(method, path);
  const isProbe = PROBES.includes(path);
  const isForConsole = method === 'GET' && !isProbe;

  // Written to the socket directly: Fastify has nothing to add to a body that is text already.
  const send = (request: FastifyRequest, reply: FastifyReply, result: ResponseBody): void => {
    const { id } = request;
    durations.add(secondsSince(request.arrivedAt));
    // The console tells that it asks, because a page that is open is no load.
    if (isForConsole && request.headers['x-idsmith-console'] !== undefined) metrics.console.count++;
    const body = textOf(result);
    const { raw } = reply.hijack();
    if (hasEtag) {
      const etag = etagOf(body);
      raw.setHeader('etag', etag);
      if (isKnown(etag, request.headers['if-none-match'])) {
        metrics.requests.add(1, method, path, '304');
        raw.writeHead(304, { ...DATA_HEADERS, [REQUEST_ID]: id }).end();
        return;
      }
    }
    succeeded.count++;
    if (status === 204) raw.writeHead(status, { ...DATA_HEADERS, [REQUEST_ID]: id }).end();
    // Node encodes latin1 several times as fast as UTF-8. For ASCII the bytes are the same.
    else if (isAscii) endAtOnce(raw.writeHead(status, headers(id, body.length)), body);
    else raw.writeHead(status, headers(id, Buffer.byteLength(body))).end(body);
    if (!isConstant) connections.hold(request.raw.socket, raw, body.length);
  };

  /** Returns the result without a promise where possible: a promise would cost as much as minting an id. */
  const call = (request: FastifyRequest): ResponseBody | Promise<ResponseBody> => {
    if (route.body === undefined && request.body !== undefined) refuseBody(request.body);
    if (waitsForStore) inFlight.check();
    const result = route.handle(request);
    return result instanceof Promise && !isProbe ? inFlight.track(result) : result;
  };

  return (request: FastifyRequest, reply: FastifyReply): void | Promise<void> => {
    const key = method === 'GET' ? undefined : request.headers['idempotency-key'];
    if (key !== undefined) {
      const work = async () => textOf(await call(request)).toString();
      const result = idempotency.respond(idempotentRequest(request, key, path), reply.raw, work);
      return result.then((text) => send(request, reply, text));
    }
    const result = call(request);
    if (result instanceof Promise) return result.then((value) => send(request, reply, value));
    send(request, reply, result);
  };
}

/**
 * Ends a response whose body is ASCII text. Headers and body go to the socket as one text. `end(body)` would write a list of two,
 * the second one empty, which takes longer than the minting of an id.
 */
function endAtOnce(response: ServerResponse, body: string | Buffer): void {
  const { socket } = response;
  socket?.cork();
  response.write(body, 'latin1');
  socket?.uncork();
  response.end();
}

function textOf(body: ResponseBody): string | Buffer {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body;
  return body === undefined ? '' : JSON.stringify(body);
}

/** Refuses a body that the route would ignore. */
function refuseBody(body: unknown): void {
  if (JSON.stringify(body) === '{}') return;
  throw invalidRequest('this route takes no body; send parameters in the query');
}

function idempotentRequest(request: FastifyRequest, key: string | string[], path: string): IdempotentRequest {
  // Two clients with the same short key would get the same ids.
  if (typeof key !== 'string' || key.length < 16 || key.length > 255)
    throw invalidRequest('Idempotency-Key must be random text of 16 to 255 characters, such as a UUID');
  return {
    key: `${request.caller?.id ?? ''} ${key}`,
    fingerprint: `${request.method} ${request.url} ${JSON.stringify(request.body ?? null)}`,
    path,
    isRepeat: Number(request.headers['idsmith-try'] ?? 1) > 1,
  };
}

/** The entity tag of a body. */
function etagOf(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** True if the client has this body already, as its `If-None-Match` says. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}
