import type { Store } from 'idsmith';
import { requireReadings } from 'idsmith/inspect';
import type { Settings } from '../config/settings.js';
import type { IdempotencyCache } from '../http/idempotency-cache.js';
import { RequestProblem, retryAfter } from '../http/problem.js';
import type { Route, Schema } from '../http/route.js';
import { MAX_COUNT, record } from '../http/schemas.js';
import { guaranteesOf, storeTime } from '../leases/store-guarantees.js';
import type { LeasedMinter } from '../mint/leased-minter.js';
import type { PublicIdCodecs } from '../mint/public-id-codecs.js';
import type { Health } from '../ops/health.js';
import type { Metrics } from '../ops/metrics.js';
import { guarantees } from './leases.js';

const text: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };

/** The parts of the server that these routes use. */
export interface OperationParts {
  readonly settings: Settings;
  readonly version: string;
  readonly store: Store;
  readonly minter: LeasedMinter;
  readonly publicIds: PublicIdCodecs;
  readonly metrics: Metrics;
  readonly idempotency: IdempotencyCache;
  readonly health: Health;
}

/** Inspecting ids and the server itself. */
export function operationRoutes(parts: OperationParts): Route[] {
  const { store, minter, publicIds, metrics, idempotency, health, settings, version } = parts;
  return [
    {
      method: 'GET',
      path: '/v1/inspect/{id}',
      summary: 'Explain an id of any family: every reading that fits, best first',
      scope: 'any',
      params: { id: { type: 'string', minLength: 1, maxLength: 500 } },
      response: record({
        id: text,
        readings: {
          type: 'array',
          items: record({ family: text, reason: text, fields: { type: 'object' } }),
          minItems: 1,
        },
      }),
      handle({ params, caller }) {
        const { id } = params as { id: string };
        // Others learn nothing from the keys: neither the id inside, nor whether a text is genuine.
        const readers = caller?.scopes.includes('admin') ? publicIds.readers : [];
        return { id, readings: requireReadings(id, { publicIds: readers }) };
      },
    },
    {
      method: 'GET',
      path: '/v1/server',
      summary: 'The server: its leases, its limits, and the guarantees of its store',
      scope: 'any',
      response: record({
        version: text,
        layout: text,
        now: { ...integer, description: "the store's time, Unix ms" },
        ...guarantees,
        schema: {
          anyOf: [record({ version: integer, leastReader: integer }), { type: 'null' }],
          description: 'the form of the data in the store; null if the store has none',
        },
        leases: {
          type: 'array',
          items: record({
            ...{ family: text, namespace: text, state: text, until: integer },
            node: { anyOf: [integer, { type: 'null' }] },
            left: { type: 'number', description: 'seconds until the fence' },
          }),
        },
        limits: record({ count: integer, body: integer }),
        publicIds: {
          type: 'array',
          items: record({ prefix: text, of: text, short: { type: 'boolean' } }),
          description: 'the prefixes of ?public=; empty without keys for public ids',
        },
        scopes: { type: 'array', items: text, description: 'the scopes of the token of this request' },
      }),
      problems: [503],
      waitsForStore: true,
      handle: async ({ caller }) => ({
        version,
        layout: settings.layout,
        now: await storeTime(store),
        ...guaranteesOf(store),
        schema: (await store.schemaVersion?.()) ?? null,
        leases: minter.leases,
        limits: { count: MAX_COUNT, body: settings.bodyLimit },
        publicIds: publicIds.prefixes,
        scopes: caller?.scopes ?? [],
      }),
    },
    {
      method: 'GET',
      path: '/healthz',
      summary: 'Liveness: the process runs',
      scope: 'public',
      response: record({ status: text }),
      handle: () => ({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'Readiness: the store answers and the leases are active',
      scope: 'public',
      response: record({ status: text }),
      problems: [503],
      async handle() {
        const notReady = await health.check();
        if (notReady === undefined) return { status: 'ready' };
        throw new RequestProblem(503, notReady.code, notReady.detail, retryAfter(notReady.retryAfter));
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      scope: 'any',
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      handle() {
        idempotency.sweep();
        return metrics.text();
      },
    },
  ];
}
