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
      description: 'Ids for distributed systems. 64-bit values are decimal strings.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
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
    operationId: operationId(method, path),
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: referTo(body, components) } } },
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
    ...{ name, in: place, required: place === 'path', schema: rest },
    ...(description !== undefined && { description }),
  };
}

/** The id of an operation, such as `post_v1_sequences_name_next`. */
const operationId = (method: string, path: string) =>
  [method.toLowerCase(), ...(path.match(/\w+/g) ?? ['index'])].join('_');

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
