import { RequestProblem } from '../http/problem.js';
import type { Route, Schema } from '../http/route.js';
import { MAX_COUNT, record } from '../http/schemas.js';
import { timeOf, trustIn } from '../leases/guarded-leases.js';
import type { Services } from '../services.js';
import { trust } from './leases.js';

/** What an id of any family says. The library's, which has no entry of its own for it yet. */
export type Inspect = (id: string) => readonly { readonly family: string; readonly fields: object }[];

const text: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };

/** Looking at ids and at the server itself. */
export function operationRoutes(services: Services): Route[] {
  const { store, mint, metrics, replays, health, settings, inspect, version } = services;
  return [
    {
      method: 'GET',
      path: '/v1/inspect/{id}',
      summary: 'What an id of any family says: every reading that fits, best first',
      scope: 'any',
      params: { id: { type: 'string', minLength: 1, maxLength: 500 } },
      answer: record({
        id: text,
        readings: { type: 'array', items: record({ family: text, fields: { type: 'object' } }), minItems: 1 },
      }),
      handle({ params }) {
        const { id } = params as { id: string };
        return { id, readings: inspect(id) };
      },
    },
    {
      method: 'GET',
      path: '/v1/server',
      summary: 'The server: its leases, its limits, and what its store promises',
      scope: 'any',
      answer: record({
        version: text,
        layout: text,
        now: { ...integer, description: "the store's time, Unix ms" },
        ...trust,
        leases: {
          type: 'array',
          items: record({
            ...{ family: text, namespace: text, state: text, until: integer },
            node: { anyOf: [integer, { type: 'null' }] },
            left: { type: 'number', description: 'seconds until the fence' },
          }),
        },
        limits: record({ count: integer, body: integer }),
      }),
      problems: [503],
      waits: true,
      handle: async () => ({
        version,
        layout: settings.layout,
        now: await timeOf(store),
        ...trustIn(store),
        leases: mint.leases,
        limits: { count: MAX_COUNT, body: settings.bodyLimit },
      }),
    },
    {
      method: 'GET',
      path: '/healthz',
      summary: 'Whether the process lives',
      scope: 'public',
      always: true,
      answer: record({ status: text }),
      handle: () => ({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'Whether it can mint: the store answers and the leases are active',
      scope: 'public',
      always: true,
      answer: record({ status: text }),
      problems: [503],
      async handle() {
        const trouble = await health.trouble();
        if (trouble === undefined) return { status: 'ready' };
        throw new RequestProblem(503, trouble.code, trouble.detail, { 'retry-after': '1' });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      scope: 'any',
      always: true,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      handle() {
        replays.sweep();
        return metrics.text();
      },
    },
  ];
}
