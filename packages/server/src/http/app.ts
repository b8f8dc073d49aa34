import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { asHook, guardOf } from '../auth/guard.js';
import type { Services } from '../services.js';
import type { Assets } from './assets.js';
import { limitConnections, refuseConnection } from './connections.js';
import { DATA_HEADERS, PAGE_HEADERS } from './headers.js';
import { RequestProblem, type Trouble, troubleOf } from './problem.js';
import { parseQuery } from './query.js';
import { responder } from './respond.js';
import type { Route } from './route.js';
import { record } from './schemas.js';

/** How long a connection may stay silent, in the middle of an answer that nobody reads, too, ms. */
const SILENCE = 60_000;

/** How often connections are looked at for requests that take too long, ms. */
const LOOK = 500;

/** The HTTP server of these routes, not listening yet. */
export function buildApp(routes: readonly Route[], services: Services, assets: Assets): FastifyInstance {
  const { settings, keyring } = services;
  const app = fastify({
    bodyLimit: settings.bodyLimit,
    requestTimeout: settings.requestTimeout,
    connectionTimeout: SILENCE,
    forceCloseConnections: 'idle',
    // Those who are connected when the end is near are still served, and told that their connection ends.
    return503OnClosing: false,
    http: { connectionsCheckingInterval: LOOK, headersTimeout: settings.requestTimeout },
    // Names of 255 characters, each of up to nine when it is escaped; the schemas hold them to the number.
    routerOptions: { maxParamLength: 255 * 9, querystringParser: parseQuery },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, _request, reply) => {
      sendTrouble(reply as FastifyReply, troubleOf(error));
    },
  });
  limitConnections(app.server, settings.maxConnections);
  app.decorateRequest('caller', null);
  takeJsonOnly(app);
  for (const route of routes) {
    const { method, path, params, query, body } = route;
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      schema: {
        ...(params && { params: record(params) }),
        querystring: record(query ?? {}, Object.keys(query ?? {})),
        ...(body && { body }),
      },
      config: { path },
      onRequest: asHook(guardOf(route, keyring, services.transit)),
      handler: responder(route, services),
    });
  }
  answerTheRest(app, routes, services, assets);
  if (settings.log === 'requests')
    app.addHook('onResponse', (request, reply, done) => {
      const { method, caller } = request;
      const ms = Math.round(reply.elapsedTime * 1000) / 1000;
      const token = caller?.id || undefined;
      services.log.request({ method, path: pathOf(request), status: reply.statusCode, ms, token });
      done();
    });
  return app;
}

/** Other types are what pages of other sites can send without being asked; an empty body needs none. */
function takeJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined);
    else parse(request, text as string, done);
  });
}

/** Problems, paths that are not there, and the files of the console. */
function answerTheRest(
  app: FastifyInstance,
  routes: readonly Route[],
  { metrics, log }: Services,
  assets: Assets,
): void {
  app.setErrorHandler((error, request, reply) => {
    const trouble = troubleOf(error);
    const { status, code } = trouble.problem;
    const path = pathOf(request);
    metrics.requests.add(1, request.method, path, String(status));
    metrics.problems.add(1, code);
    if (status >= 500 && code !== 'NOT_CONFIGURED') log.error('request failed', { path, error });
    return sendTrouble(reply, trouble);
  });

  const patterns = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const asset = request.method === 'GET' || request.method === 'HEAD' ? assets.get(path) : undefined;
    if (asset !== undefined)
      return reply
        .headers({ ...PAGE_HEADERS, 'content-type': asset.type, 'cache-control': asset.cache })
        .send(asset.bytes);
    const allowed = patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (allowed.length === 0) throw new RequestProblem(404, 'NOT_FOUND', 'there is nothing at this path');
    const allow = allowed.join(', ');
    throw new RequestProblem(405, 'METHOD_NOT_ALLOWED', `this path takes ${allow}`, { allow });
  });
}

/** The path of a route as the document has it; what is not there has none, or there would be no end of them. */
function pathOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.config as { path?: string }).path ?? 'unknown';
}

function sendTrouble(reply: FastifyReply, { problem, headers }: Trouble): FastifyReply {
  return reply
    .code(problem.status)
    .headers({ ...DATA_HEADERS, ...headers, 'content-type': 'application/problem+json; charset=utf-8' })
    .send(JSON.stringify(problem));
}
