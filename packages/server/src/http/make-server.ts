import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Settings } from '../config/settings.js';
import type { Metrics } from '../ops/metrics.js';
import type { Connections } from './connections.js';
import { refuseRequest } from './refuse.js';

/** The longest silence of a connection, ms. A response that the client does not read counts as silence, too. */
const IDLE_TIMEOUT = 60_000;

/** The interval of the search for requests that take too long to arrive, ms. */
const TIMEOUT_CHECK_INTERVAL = 500;

/** The parts that a Node server is made from. */
export interface ServerLimits {
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly connections: Connections;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes a Node server whose connections and requests are limited before Fastify sees them. */
export function makeServer(handler: Handler, { settings, metrics, connections }: ServerLimits): Server {
  const { requestTimeout } = settings;
  const server = createServer(
    { connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL, headersTimeout: requestTimeout, requestTimeout },
    (request, response) => {
      const refusal = connections.take(request, response);
      if (refusal === undefined) return handler(request, response);
      metrics.requests.add(1, request.method ?? '', 'unknown', String(refusal.status));
      metrics.problems.add(1, refusal.code);
      refuseRequest(response, refusal);
    },
  );
  server.keepAliveTimeout = IDLE_TIMEOUT;
  server.setTimeout(IDLE_TIMEOUT);
  connections.attach(server);
  return server;
}
