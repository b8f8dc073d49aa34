import { type IncomingHttpHeaders, maxHeaderSize } from 'node:http';
import querystring from 'node:querystring';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Settings } from '../config/settings.js';
import type { Log } from '../ops/log.js';
import type { Assets } from './assets.js';
import { DATA_HEADERS, PAGE_HEADERS, REQUEST_ID, requestIdOf, traceIdOf } from './headers.js';
import { makeServer } from './make-server.js';
import { type ProblemResponse, problemReporter, type ReportProblem, RequestProblem } from './problem.js';
import type { Route } from './route.js';
import { type ServingParts, secondsSince, serveRoute } from './serve-route.js';

/** The parts that the HTTP server is built from, besides its routes. */
export interface AppParts extends ServingParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly assets: Assets;
}

/** Builds the HTTP server of these routes. It does not listen yet. */
export function buildApp(routes: readonly Route[], parts: AppParts): FastifyInstance {
  const report = problemReporter(parts.metrics, parts.log);
  const app = makeFastify(parts, report);
  app.decorateRequest('caller', null);
  app.decorateRequest('arrivedAt', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = performance.now();
    done();
  });
  acceptJsonOnly(app);
  for (const route of routes) serveRoute(app, route, parts);
  app.setErrorHandler((error, request, reply) => {
    const { bodyLimit } = parts.settings;
    const { method, path } = asked(request);
    parts.metrics.durationsOf(method, path).add(secondsSince(request.arrivedAt));
    return sendProblem(
      request,
      reply,
      report(arrivalProblem(error, request, bodyLimit) ?? error, asked(request)),
    );
  });
  handleUnrouted(app, routes, parts.assets);
  if (parts.settings.log === 'requests') logRequests(app, parts.log);
  return app;
}

function makeFastify(parts: AppParts, report: ReportProblem): FastifyInstance {
  return fastify({
    bodyLimit: parts.settings.bodyLimit,
    serverFactory: (handler) => makeServer(handler, { ...parts, report }),
    forceCloseConnections: 'idle',
    // Requests on open connections are still served during shutdown, with `Connection: close`.
    return503OnClosing: false,
    // Parameters of any length reach the schemas, which know the limit of each.
    routerOptions: { maxParamLength: maxHeaderSize, querystringParser: parseQuery },
    // Verbose: a violation has the schema and the value, which are told to the caller.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, verbose: true } },
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => {
      const problem = error.code === 'FST_ERR_BAD_URL' ? badPath(request.url) : error;
      const { method, path, ...ids } = asked(request);
      const response = report(problem, { method, path, ...ids });
      parts.log.request({ method, path, status: response.problem.status, ...ids });
      sendProblem(request, reply as FastifyReply, response);
    },
  });
}

/** Refuses other content types, because pages of other sites can send them without a preflight. An empty body needs no type. */
function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    const refusal = bodyRefusal(request.headers, text as string);
    if (refusal !== undefined) done(refusal);
    else if (text === '') done(null, undefined);
    else parse(request, text as string, done);
  });
}

/** The problem of a body that is too large or that ends too soon; `undefined` for other errors. */
function arrivalProblem(
  error: unknown,
  { raw }: FastifyRequest,
  bodyLimit: number,
): RequestProblem | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new RequestProblem(413, 'TOO_LARGE', `the body must have at most ${bodyLimit} bytes`);
  if (code === 'ECONNRESET' && !raw.complete)
    return new RequestProblem(400, 'MALFORMED', 'the connection ended before the body');
  return undefined;
}

/** The problem of a path whose escapes are no UTF-8. */
function badPath(url: string): RequestProblem {
  const [path = ''] = url.split('?', 1);
  const escapes = path.match(/(%[^%/]{0,2})+/g) ?? [];
  const bad = escapes.find((each) => !isUtf8(each)) ?? path;
  return new RequestProblem(
    400,
    'MALFORMED',
    `the path has ${JSON.stringify(bad.slice(0, 60))}, which is no UTF-8 in percent encoding: write % as %25`,
  );
}

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** Serves paths without a route: the files of the console, a 405 if the path has another method, or a 404. */
function handleUnrouted(app: FastifyInstance, routes: readonly Route[], assets: Assets): void {
  const patterns = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const asset = request.method === 'GET' || request.method === 'HEAD' ? assets.get(path) : undefined;
    if (asset !== undefined)
      return reply
        .headers({
          ...PAGE_HEADERS,
          [REQUEST_ID]: request.id,
          'content-type': asset.type,
          'cache-control': asset.cache,
        })
        .send(asset.bytes);
    const allowed = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (allowed.length === 0) throw new RequestProblem(404, 'NOT_FOUND', 'no route has this path');
    // Fastify serves HEAD wherever there is a GET.
    const allow = allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    throw new RequestProblem(405, 'METHOD_NOT_ALLOWED', `this path allows ${allow} only`, { allow });
  });
}

function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, path, ...ids } = asked(request);
    const ms = Math.round(reply.elapsedTime * 1000) / 1000;
    const token = request.caller?.id || undefined;
    log.request({ method, path, status: reply.statusCode, ms, token, ...ids });
    done();
  });
}

/** The names of a request in metrics and log. Unknown paths share one name, so that metrics stay bounded. */
function asked({ method, id, headers, routeOptions }: FastifyRequest) {
  const { path = 'unknown' } = (routeOptions.config ?? {}) as { path?: string };
  return { method, path, requestId: id, traceId: traceIdOf(headers) };
}

function sendProblem(
  { id }: FastifyRequest,
  reply: FastifyReply,
  { problem, headers }: ProblemResponse,
): FastifyReply {
  return reply
    .code(problem.status)
    .headers({
      ...DATA_HEADERS,
      ...headers,
      [REQUEST_ID]: id,
      'content-type': 'application/problem+json; charset=utf-8',
    })
    .send(JSON.stringify(problem));
}

/**
 * Parses the parameters of a query. Only plain digits become numbers: `1e3`, `0x10` and ` 5 ` stay text, which the schemas refuse
 * where they expect a number. A repeated parameter becomes a list, which every schema refuses.
 */
function parseQuery(text: string): Record<string, unknown> {
  const query = new (Query as unknown as new () => Record<string, unknown>)();
  if (text === '') return query;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? '' : pair.slice(at + 1);
    const read = /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : decode(value);
    query[name] = name in query ? [query[name], read] : read;
  }
  return query;
}

/** Makes an object without any properties, inherited ones included. Reading it is faster than `Object.create(null)`. */
function Query(): void {}
Query.prototype = Object.create(null);

const decode = (text: string) => (/[%+]/.test(text) ? querystring.unescape(text.replaceAll('+', ' ')) : text);

/** The deepest nesting of a body. No route needs more than three levels. */
const MAX_DEPTH = 32;

/** The reason why a body is not read; `undefined` if it is. */
function bodyRefusal(headers: IncomingHttpHeaders, text: string): RequestProblem | undefined {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    return new RequestProblem(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'bodies must be sent without Content-Encoding, as plain JSON',
      { 'accept-encoding': 'identity' },
    );
  if (depthOf(text) > MAX_DEPTH)
    return new RequestProblem(400, 'MALFORMED', `the body is nested more than ${MAX_DEPTH} levels deep`);
  return undefined;
}

/** The deepest nesting of lists and objects in a JSON text, counted no further than the limit. */
function depthOf(text: string): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let i = 0; i < text.length && deepest <= MAX_DEPTH; i++) {
    const character = text[i];
    if (character === '"') isText = !isText;
    else if (isText) i += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}
