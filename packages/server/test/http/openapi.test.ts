import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Validator } from '@seriousme/openapi-schema-validator';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS } from '../../src/http/problem.ts';
import { type Options, TestServer } from '../support/server.ts';

let server: TestServer;
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
let document: any;
/** The routes registered with Fastify, as `METHOD /path`. */
const served: string[] = [];

beforeAll(async () => {
  const watch = (message: unknown) => {
    const { fastify: app } = message as { fastify: FastifyInstance };
    app.addHook('onRoute', ({ method, url }) => {
      if (method !== 'HEAD') served.push(`${method} ${url.replace(/:(\w+)/g, '{$1}')}`);
    });
  };
  subscribe('fastify.initialization', watch);
  server = await TestServer.prepare();
  unsubscribe('fastify.initialization', watch);
  document = (await server.get('/openapi.json')).json;
});
afterAll(() => server?.stop());

/** Every operation of the document, as `METHOD /path`. */
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );

/** One call of every route, in an order in which each succeeds. */
const CALLS: [operation: string, path: string, options?: Options][] = [
  ['POST /v1/flakes', '/v1/flakes?count=2'],
  ['POST /v1/locality', '/v1/locality?count=2&mode=sequential'],
  ['POST /v1/uuid7', '/v1/uuid7?count=2'],
  ['POST /v1/keys', '/v1/keys?type=user'],
  ['POST /v1/sequences', '/v1/sequences', { body: { name: 'a', start: 1 } }],
  ['POST /v1/sequences/{name}/next', '/v1/sequences/a/next?count=3'],
  ['POST /v1/sequences/{name}/blocks', '/v1/sequences/a/blocks'],
  ['POST /v1/sequences/{name}/tails', '/v1/sequences/a/tails', { body: { first: '1', step: 1, count: 1 } }],
  ['GET /v1/sequences', '/v1/sequences'],
  ['GET /v1/sequences/{name}', '/v1/sequences/a'],
  ['PATCH /v1/sequences/{name}', '/v1/sequences/a', { body: { blockSize: 7 } }],
  ['DELETE /v1/sequences/{name}', '/v1/sequences/a'],
  ['POST /v1/series/{name}/next', '/v1/series/a/next', { body: { format: 'A{n}' } }],
  ['GET /v1/series', '/v1/series'],
  ['GET /v1/leases', '/v1/leases'],
  ['GET /v1/leases/{namespace}', '/v1/leases/jflake'],
  [
    'POST /v1/leases/{namespace}/swap',
    '/v1/leases/a/swap',
    { body: { next: { id: 0, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: '' } } },
  ],
  ['GET /v1/leases/{namespace}/moment', '/v1/leases/a/moment'],
  ['POST /v1/tokens/{token}/free', '/v1/tokens/0123456789ab/free'],
  [
    'POST /v1/leases/{namespace}/claim',
    '/v1/leases/a/claim',
    {
      body: {
        next: { id: 1, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: '' },
        birth: { id: -1, owner: 'a', epoch: 0, fence: 0, expiresAt: 0, label: '' },
      },
    },
  ],
  ['DELETE /v1/leases/{namespace}', '/v1/leases/idsmith-verify%2Fa'],
  ['GET /v1/ring', '/v1/ring'],
  ['GET /v1/history', '/v1/history?span=day'],
  ['GET /v1/history/sequences/{name}', '/v1/history/sequences/a'],
  ['GET /v1/history/leases/{namespace}', '/v1/history/leases/jflake'],
  ['GET /v1/audit', '/v1/audit'],
  ['GET /v1/inspect/{id}', '/v1/inspect/1703865194431643648'],
  ['GET /v1/server', '/v1/server'],
  ['GET /healthz', '/healthz'],
  ['GET /readyz', '/readyz'],
  ['GET /metrics', '/metrics'],
  ['GET /openapi.json', '/openapi.json'],
  ['GET /', '/'],
];

describe('GET /openapi.json', () => {
  it('is a valid OpenAPI document', async () => {
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    expect(document.openapi).toBe('3.1.0');
  });

  it('has every route that is served, and no other', () => {
    expect(served.length).toBeGreaterThan(10);
    expect(operations().sort()).toEqual(served.sort());
    // This file calls each of them.
    expect(CALLS.map(([operation]) => operation).sort()).toEqual(served);
  });

  it('has a name that somebody would type, a group and a sentence about the token for every operation', () => {
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods as object));
    const ids = all.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+([A-Z0-9][a-z0-9]*)*$/.test(id))).toEqual([]);
    const groups = document.tags.map(({ name }: { name: string }) => name);
    for (const { tags, description } of all) {
      expect(groups).toContain(tags[0]);
      expect(description).toMatch(/token|Anybody/);
    }
    const { defineSequence } = Object.fromEntries(all.map((each) => [each.operationId, each]));
    expect(defineSequence.requestBody.content['application/json'].example).toMatchObject({ name: 'orders' });
  });

  it('has every route of the specification', () => {
    const specified = [
      'POST /v1/flakes',
      'POST /v1/locality',
      'POST /v1/uuid7',
      'POST /v1/keys',
      'POST /v1/sequences/{name}/next',
      'POST /v1/sequences/{name}/blocks',
      'GET /v1/sequences',
      'POST /v1/sequences',
      'GET /v1/sequences/{name}',
      'PATCH /v1/sequences/{name}',
      'DELETE /v1/sequences/{name}',
      'GET /v1/leases/{namespace}',
      'POST /v1/leases/{namespace}/swap',
      'GET /v1/inspect/{id}',
      'GET /healthz',
      'GET /readyz',
      'GET /metrics',
      'GET /openapi.json',
      'GET /',
    ];
    expect(operations()).toEqual(expect.arrayContaining(specified));
  });

  it('describes what every route answers', async () => {
    // Fastify as the judge: each schema is that of a body, and each answer is sent there.
    const judge = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } });
    const answers: [operation: string, url: string, json: unknown][] = [];
    for (const [i, [operation, path, options]] of CALLS.entries()) {
      const [method, template] = operation.split(' ') as [string, string];
      const { responses } = document.paths[template][method.toLowerCase()];
      const { status, headers, json } = await server.call(method, path, options);
      const [type = ''] = (headers.get('content-type') ?? '').split(';', 1);
      expect(Object.keys(responses), operation).toContain(String(status));
      if (status !== 204) expect(Object.keys(responses[status].content), operation).toEqual([type]);
      if (json === undefined) continue;
      const body = inlined(responses[status].content[type].schema);
      judge.post(`/${i}`, { schema: { body } }, async () => 'right');
      answers.push([operation, `/${i}`, json]);
    }
    for (const [operation, url, json] of answers) {
      const { payload } = await judge.inject({ method: 'POST', url, payload: json as object });
      expect(payload, operation).toBe('right');
    }
    await judge.close();
  });

  it('has a status for every error of the library, and a scope for every route that needs one', () => {
    const statuses = new Set(Object.values(document.paths).flatMap(statusesOf));
    for (const status of [...Object.values(STATUS), 400, 401, 403, 408, 413, 415, 429, 500])
      expect(statuses).toContain(status);
    const { security } = document.paths['/v1/sequences'].post;
    expect(security).toEqual([{ token: ['admin'] }]);
    expect(document.paths['/healthz'].get.security).toEqual([]);
  });
});

function statusesOf(methods: unknown): number[] {
  return Object.values(methods as Record<string, { responses: object }>).flatMap(({ responses }) =>
    Object.keys(responses).map(Number),
  );
}

/** A schema with what it refers to in the place of the references. */
function inlined(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inlined);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return inlined(document.components.schemas[$ref.split('/').at(-1) as string]);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inlined(value)]));
}
