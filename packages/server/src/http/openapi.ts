import { STATUS_CODES } from 'node:http';
import type { Route, Schema } from './route.js';
import { problem } from './schemas.js';

/** Statuses of problems that every route can have. */
const COMMON = [400, 403, 422, 500];

/** Further statuses of routes that need a token. */
const WITH_TOKEN = [401, 429];

/** Further statuses of routes that change something. */
const UNSAFE = [408, 413, 415];

/** Makes the OpenAPI document of these routes. */
export function openApiOf(routes: readonly Route[], version: string): object {
  const components: Record<string, Schema> = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operationOf(route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'idsmith',
      version,
      description:
        'Ids for distributed systems. 64-bit values are decimal strings. Problems are application/problem+json with a stable code. ' +
        'A request with an Idempotency-Key can be repeated, and gives the same ids again.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths,
    components: {
      schemas: components,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(route: Route, components: Record<string, Schema>): object {
  const { method, path, summary, scope, params = {}, query = {}, body, problems = [] } = route;
  const isUnsafe = method !== 'GET';
  const names = namesOf(method, path);
  const example = BODIES[names.operationId];
  const statuses = new Set([
    ...COMMON,
    ...(scope === 'public' ? [] : WITH_TOKEN),
    ...(isUnsafe ? UNSAFE : []),
    ...problems,
  ]);
  const parameters = [
    ...Object.entries(params).map(([name, schema]) => parameter('path', name, schema)),
    ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema)),
    ...(isUnsafe
      ? [parameter('header', 'Idempotency-Key', { type: 'string', minLength: 16, maxLength: 255 })]
      : []),
  ];
  const failure = {
    content: { 'application/problem+json': { schema: referTo(problem, components) } },
  };
  return {
    ...names,
    summary,
    description: descriptionOf(scope),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: referTo(body, components), ...(example && { example }) } },
      },
    }),
    responses: {
      ...success(route, components),
      ...(route.hasEtag && { 304: { description: 'the client has this body already (If-None-Match)' } }),
      ...Object.fromEntries(
        [...statuses].sort().map((status) => [status, { description: STATUS_CODES[status], ...failure }]),
      ),
    },
    security: scope === 'public' ? [] : [{ token: scope === 'any' ? [] : [scope] }],
  };
}

function success(
  { status = 200, contentType = 'application/json', response }: Route,
  components: Record<string, Schema>,
) {
  const schema = response === undefined ? { type: 'string' } : referTo(response, components);
  const content = status === 204 ? {} : { content: { [contentType.split(';', 1)[0] as string]: { schema } } };
  return { [status]: { description: STATUS_CODES[status], ...content } };
}

function parameter(place: 'path' | 'query' | 'header', name: string, schema: Schema): object {
  const { description, ...rest } = schema;
  return {
    name,
    in: place,
    required: place === 'path',
    schema: rest,
    ...(description !== undefined && { description }),
    ...(EXAMPLES[name] !== undefined && place !== 'query' && { example: EXAMPLES[name] }),
  };
}

/** Who may call an operation. */
function descriptionOf(scope: Route['scope']): string {
  if (scope === 'public') return 'Anybody may ask.';
  return scope === 'any' ? 'Needs a token of any scope.' : `Needs a token with the scope ${scope}.`;
}

/** The groups of operations, in the order of the documentation. */
const TAGS = [
  { name: 'Mint', description: 'Ids of every family. One request gives up to 10,000.' },
  {
    name: 'Sequences',
    description: 'Ascending numbers: draw them, take whole blocks, and manage sequences.',
  },
  { name: 'Leases', description: 'Node ids and their holders, for remote generators and for people.' },
  { name: 'History', description: 'What was: rates, holders of node ids, administrative changes.' },
  { name: 'Operations', description: 'Inspect ids, and watch the server.' },
] as const;

/** The name of each operation, as somebody would type it, and its group. */
const NAMES: Readonly<Record<string, readonly [id: string, tag: (typeof TAGS)[number]['name']]>> = {
  'POST /v1/flakes': ['mintFlakes', 'Mint'],
  'POST /v1/locality': ['mintLocality', 'Mint'],
  'POST /v1/uuid7': ['mintUuid7', 'Mint'],
  'POST /v1/keys': ['mintKeys', 'Mint'],
  'POST /v1/sequences/{name}/next': ['nextIds', 'Sequences'],
  'POST /v1/sequences/{name}/blocks': ['takeBlocks', 'Sequences'],
  'POST /v1/sequences/{name}/tails': ['returnTail', 'Sequences'],
  'GET /v1/sequences': ['listSequences', 'Sequences'],
  'POST /v1/sequences': ['defineSequence', 'Sequences'],
  'GET /v1/sequences/{name}': ['describeSequence', 'Sequences'],
  'PATCH /v1/sequences/{name}': ['alterSequence', 'Sequences'],
  'DELETE /v1/sequences/{name}': ['removeSequence', 'Sequences'],
  'POST /v1/series/{name}/next': ['nextNumbers', 'Sequences'],
  'GET /v1/series': ['listSeries', 'Sequences'],
  'GET /v1/leases': ['listNamespaces', 'Leases'],
  'GET /v1/leases/{namespace}': ['listLeases', 'Leases'],
  'POST /v1/leases/{namespace}/swap': ['swapLease', 'Leases'],
  'POST /v1/leases/{namespace}/claim': ['claimLease', 'Leases'],
  'GET /v1/leases/{namespace}/moment': ['readMoment', 'Leases'],
  'POST /v1/tokens/{token}/free': ['freeNodeIds', 'Leases'],
  'DELETE /v1/leases/{namespace}': ['removeTrialNamespace', 'Leases'],
  'GET /v1/ring': ['describeRing', 'Operations'],
  'GET /v1/history': ['readHistory', 'History'],
  'GET /v1/history/sequences/{name}': ['readSequenceHistory', 'History'],
  'GET /v1/history/leases/{namespace}': ['readLeaseHistory', 'History'],
  'GET /v1/audit': ['readAudit', 'History'],
  'GET /v1/inspect/{id}': ['inspectId', 'Operations'],
  'GET /v1/server': ['describeServer', 'Operations'],
  'GET /healthz': ['isAlive', 'Operations'],
  'GET /readyz': ['isReady', 'Operations'],
  'GET /metrics': ['readMetrics', 'Operations'],
  'GET /openapi.json': ['readOpenApi', 'Operations'],
  'GET /': ['openConsole', 'Operations'],
};

/** Examples of parameters and bodies, by name. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  name: 'orders',
  namespace: 'jflake',
  id: '1703865194431643648',
  count: 3,
  'Idempotency-Key': '5f1b0c6e-2d1e-4d2f-9a55-0e8c2b7d9f10',
};

const BODIES: Readonly<Record<string, object>> = {
  defineSequence: { name: 'orders', start: '10000', blockSize: 100 },
  nextNumbers: { format: 'INV-{yyyy}-{n:6}', period: 'year', tenant: 'acme' },
  alterSequence: { blockSize: 500, max: '2147483647' },
};

/** The name of an operation, and its group. A route without a name has one from its path. */
function namesOf(method: string, path: string): { operationId: string; tags: string[] } {
  const made = [method.toLowerCase(), ...(path.match(/\w+/g) ?? [])].join('_');
  const [operationId, tag] = NAMES[`${method} ${path}`] ?? [made, 'Operations'];
  return { operationId, tags: [tag] };
}

/** Moves each schema with a title to the components, and puts a reference in its place. */
function referTo(schema: Schema, components: Record<string, Schema>): Schema {
  const { title } = schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, referWithin(value, components)]),
  );
  if (typeof title !== 'string') return inner;
  components[title] = inner;
  return { $ref: `#/components/schemas/${title}` };
}

function referWithin(value: unknown, components: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((each) => referWithin(each, components));
  return typeof value === 'object' && value !== null ? referTo(value as Schema, components) : value;
}
