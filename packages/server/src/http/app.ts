import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Settings } from '../config/settings.js';
import type { Log } from '../ops/log.js';
import type { Assets } from './assets.js';
import { bodyRefusal } from './body.js';
import { DATA_HEADERS, PAGE_HEADERS } from './headers.js';
import { makeServer } from './make-server.js';
import { type ProblemResponse, problemResponseOf, RequestProblem } from './problem.js';
import { parseQuery } from './query.js';
import { refuseConnection } from './refuse.js';
import { REQUEST_ID, requestIdOf, traceIdOf } from './request-id.js';
import { type ResponderParts, responder } from './respond.js';
import type { Route } from './route.js';
import { record } from './schemas.js';

/** Lets a request pass, or throws a `RequestProblem`. */
type Check = (request: FastifyRequest) => void;

/** The parts that the HTTP server is built from, besides its routes. */
export interface AppParts extends ResponderParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly assets: Assets;
  /** Makes the check of the callers of a route. */
  readonly guard: (route: Route) => Check;
}

/** Builds the HTTP server of these routes. It does not listen yet. */
export function buildApp(routes: readonly Route[], parts: AppParts): FastifyInstance {
  const app = makeFastify(parts);
  app.decorateRequest('caller', null);
  acceptJsonOnly(app);
  for (const route of routes) addRoute(app, route, parts);
  handleErrors(app, parts);
  handleUnrouted(app, routes, parts.assets);
  if (parts.settings.log === 'requests') logRequests(app, parts.log);
  return app;
}

function makeFastify(parts: AppParts): FastifyInstance {
  return fastify({
    bodyLimit: parts.settings.bodyLimit,
    serverFactory: (handler) => makeServer(handler, parts),
    forceCloseConnections: 'idle',
    // Requests on open connections are still served during shutdown, with `Connection: close`.
    return503OnClosing: false,
    // Names have up to 255 characters, and an escaped character takes up to nine. The schemas check the exact length.
    routerOptions: { maxParamLength: 255 * 9, querystringParser: parseQuery },
    // Verbose: a violation has the schema, whose names are told to the caller.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, verbose: true } },
    genReqId: requestIdOf,
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => {
      sendProblem(request, reply as FastifyReply, problemResponseOf(error));
    },
  });
}

function addRoute(app: FastifyInstance, route: Route, parts: AppParts): void {
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

function handleErrors(app: FastifyInstance, { metrics, log }: AppParts): void {
  app.setErrorHandler((error, request, reply) => {
    const response = problemResponseOf(error);
    const { status, code } = response.problem;
    const path = pathOf(request);
    metrics.requests.add(1, request.method, path, String(status));
    metrics.problems.add(1, code);
    if (status >= 500 && code !== 'NOT_CONFIGURED')
      log.error('request failed', { path, ...idsOf(request), error });
    return sendProblem(request, reply, response);
  });
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
    const { method, caller } = request;
    const ms = Math.round(reply.elapsedTime * 1000) / 1000;
    const token = caller?.id || undefined;
    const { statusCode: status } = reply;
    log.request({ method, path: pathOf(request), status, ms, token, ...idsOf(request) });
    done();
  });
}

/** The path of the route, with its parameters in braces. Unknown paths share one name, so that metrics stay bounded. */
function pathOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.config as { path?: string }).path ?? 'unknown';
}

/** The ids by which a request is found in the logs of its caller. */
function idsOf({ id, headers }: FastifyRequest): { requestId: string; traceId: string | undefined } {
  return { requestId: id, traceId: traceIdOf(headers) };
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
