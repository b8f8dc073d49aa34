import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from 'idsmith';
import { knownNames } from 'idsmith/internal';
import type { Log } from '../ops/log.js';
import type { Metrics } from '../ops/metrics.js';

/** Codes of problems with HTTP itself. Problems with ids have the code of the library's error. */
export type HttpCode =
  | 'MALFORMED'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'TIMEOUT'
  | 'TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'NOT_CONFIGURED'
  | 'OVERLOADED';

/** A body of `application/problem+json` (RFC 9457), with a stable `code`. */
interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode | HttpCode;
  /** The cause of a failure of the store, if it has a word. */
  readonly reason?: string;
}

/** The status of each error of the library. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_ID: 422,
  INVALID_OPTION: 422,
  CLOCK: 503,
  LEASES_EXHAUSTED: 503,
  LEASE_FENCED: 503,
  NO_SUCH_SEQUENCE: 404,
  SEQUENCE_EXISTS: 409,
  SEQUENCE_EXHAUSTED: 410,
  UNSAFE_INTEGER: 422,
  STORE: 503,
  STORE_WENT_BACK: 503,
  TIME_EXHAUSTED: 503,
  CLOSED: 503,
};

/** The codes of Fastify's own errors, by status. */
const CODE_BY_STATUS: Readonly<Record<number, HttpCode>> = {
  400: 'MALFORMED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'TIMEOUT',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  // While the server is closing.
  503: 'OVERLOADED',
};

const JSON_ONLY =
  'send the body as JSON, with Content-Type: application/json; a request without a body needs no type';

type Headers = Readonly<Record<string, string>>;

/** Tells the client to try again after some seconds. */
export const retryAfter = (seconds = 1): Headers => ({ 'retry-after': String(seconds) });

/** Tells the client to try again in a second. */
export const RETRY_SOON: Headers = retryAfter();

/** A request that the server refuses before it asks the library. */
export class RequestProblem extends Error {
  readonly status: number;
  readonly code: ErrorCode | HttpCode;
  readonly headers: Headers;

  constructor(status: number, code: ErrorCode | HttpCode, detail: string, headers: Headers = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The problem of a well-formed request with a wrong value: 422. */
export function invalidRequest(detail: string): RequestProblem {
  return new RequestProblem(422, 'INVALID_OPTION', detail);
}

/** A problem and the headers that are sent with it. */
export interface ProblemResponse {
  readonly problem: Problem;
  readonly headers: Headers;
}

/** Turns an error into the response for the client. The message of an unexpected error is hidden: it may hold secrets. */
function problemResponseOf(error: unknown): ProblemResponse {
  if (error instanceof RequestProblem)
    return problemResponse(error.status, error.code, error.message, error.headers);
  const { code, reason, message, retryAfter: seconds, ...fastify } = failureOf(error);
  // Compared by code, not by class: two copies of the library may be loaded.
  if (Object.hasOwn(STATUS, code)) {
    const status = STATUS[code as ErrorCode];
    const headers = status === 503 ? retryAfter(seconds) : {};
    const response = problemResponse(status, code as ErrorCode, message, headers);
    return typeof reason !== 'string' ? response : { headers, problem: { ...response.problem, reason } };
  }
  // A status says nothing in errors of others: that of a driver may be the status of another server.
  if (!code.startsWith('FST_')) return INTERNAL;
  const { validation, validationContext, statusCode = 500 } = fastify;
  if (validation?.[0] !== undefined)
    return problemResponse(422, 'INVALID_OPTION', violationMessage(validation[0], validationContext));
  const known = CODE_BY_STATUS[statusCode];
  if (known === undefined) return INTERNAL;
  return problemResponse(statusCode, known, known === 'UNSUPPORTED_MEDIA_TYPE' ? JSON_ONLY : message);
}

function problemResponse(
  status: number,
  code: Problem['code'],
  detail: string,
  headers: Headers = {},
): ProblemResponse {
  return {
    problem: { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code },
    headers,
  };
}

const INTERNAL = problemResponse(500, 'INTERNAL', 'internal error; see the log of the server');

/** The properties that Fastify and the waits of this server add to errors. */
interface Failure {
  readonly code: string;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly statusCode?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly validation?: readonly Violation[];
  readonly validationContext?: string;
}

/** The properties of whatever was thrown. */
function failureOf(error: unknown): Failure {
  try {
    const { code, reason, message, statusCode, retryAfter, validation, validationContext } = error as Failure;
    const others = { reason, statusCode, retryAfter, validation, validationContext } as Partial<Failure>;
    return { ...others, code: typeof code === 'string' ? code : '', message: String(message) };
  } catch {
    return { code: '', message: '' };
  }
}

/** A violation of a JSON Schema. Ajv adds the value and the schema because it is verbose. */
interface Violation {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The value. */
  readonly data?: unknown;
  /** The schema that the value violates. */
  readonly parentSchema?: {
    readonly type?: string;
    readonly properties?: object;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minLength?: number;
    readonly maxLength?: number;
  };
}

const PLACES: Readonly<Record<string, string>> = {
  querystring: 'the query',
  body: 'the body',
  params: 'the path',
};

/** The fields of bodies that are 64-bit numbers. */
const INTEGERS = new Set(['start', 'next', 'min', 'max', 'first']);

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
  integer: 'a whole number',
};

/** A message such as `count in the query must be a whole number from 1 to 10000, not "abc"`. */
function violationMessage(violation: Violation, context = ''): string {
  const { instancePath, keyword, params, parentSchema, data } = violation;
  const place = PLACES[context] ?? 'the request';
  const { additionalProperty, missingProperty } = params;
  if (keyword === 'additionalProperties')
    return unknownProperty(String(additionalProperty), place, parentSchema);
  const name = instancePath.slice(1).replaceAll('/', '.');
  const subject = name === '' ? place : `${name} in ${place}`;
  if (keyword === 'required') return `${subject} must have the property ${missingProperty}`;
  if (INTEGERS.has(name)) return `${subject} must be an integer, as a decimal string, not ${shown(data)}`;
  if (keyword === 'not') return `${subject} must not be ${shown(data)}`;
  if (keyword === 'minLength' || keyword === 'maxLength')
    return `${subject} must have ${parentSchema?.minLength ?? 0} to ${parentSchema?.maxLength} characters, not ${[...(data as string)].length}`;
  return `${subject} must be ${requirementOf(violation)}, not ${shown(data)}`;
}

/** The end of `must be …`. */
function requirementOf({ keyword, message, params, parentSchema: schema = {} }: Violation): string {
  const { allowedValues } = params as { allowedValues?: readonly unknown[] };
  if (keyword === 'enum' && allowedValues !== undefined)
    return allowedValues.map((each) => JSON.stringify(each)).join(' or ');
  const { type, minimum, maximum } = schema;
  if (type === 'integer' && minimum !== undefined && maximum !== undefined)
    return `a whole number from ${minimum} to ${maximum}`;
  if (keyword === 'type') return TYPES[String(type)] ?? String(type);
  return message?.startsWith('must be ') ? message.slice('must be '.length) : 'valid';
}

/** A value, cut to the length of a line. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** A message such as `"cuont" in the query is unknown; did you mean "count"? (known: count, public)`. */
function unknownProperty(name: string, place: string, schema: Violation['parentSchema']): string {
  const known = Object.keys(schema?.properties ?? {});
  const short = name.slice(0, 60);
  const names = known.length > 0 ? knownNames(short, known) : ' (this route has no parameters)';
  return `${JSON.stringify(short)} in ${place} is unknown${names}`;
}

/** A request that is answered with a problem, by the names it has in metrics and log. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly requestId?: string;
  readonly traceId?: string | undefined;
}

/** Counts a problem, logs an error of the server, and gives the response. */
export type ReportProblem = (error: unknown, asked: Asked) => ProblemResponse;

/** Makes the function that every problem passes through, wherever it comes from. */
export function problemReporter(metrics: Metrics, log: Log): ReportProblem {
  return (error, { method, ...asked }) => {
    const response = problemResponseOf(error);
    const { status, code } = response.problem;
    metrics.requests.add(1, method, asked.path, String(status));
    metrics.problems.add(1, code);
    metrics.refusals.add(1, code, method, asked.path);
    if (code === 'INTERNAL') log.unexpected('request failed', { ...asked, error });
    else if (status >= 500 && code !== 'NOT_CONFIGURED') log.error('request failed', { ...asked, error });
    return response;
  };
}
