import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from 'idsmith';
import { knownNames } from '../config/known-names.js';

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
export function problemResponseOf(error: unknown): ProblemResponse {
  if (error instanceof RequestProblem)
    return problemResponse(error.status, error.code, error.message, error.headers);
  const {
    code,
    message,
    statusCode,
    validation,
    validationContext,
    retryAfter: seconds,
  } = (error ?? {}) as Failure;
  // Compared by code, not by class: two copies of the library may be loaded.
  if (typeof code === 'string' && Object.hasOwn(STATUS, code)) {
    const status = STATUS[code as ErrorCode];
    return problemResponse(
      status,
      code as ErrorCode,
      message ?? code,
      status === 503 ? retryAfter(seconds) : {},
    );
  }
  if (validation?.[0] !== undefined)
    return problemResponse(422, 'INVALID_OPTION', violationMessage(validation[0], validationContext));
  const known = CODE_BY_STATUS[statusCode ?? 0];
  if (known === 'UNSUPPORTED_MEDIA_TYPE') return problemResponse(415, known, JSON_ONLY);
  if (known !== undefined) return problemResponse(statusCode as number, known, message ?? known);
  return problemResponse(500, 'INTERNAL', 'internal error; see the log of the server');
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

/** The properties that Fastify and the waits of this server add to errors. */
interface Failure {
  readonly code?: string;
  readonly message?: string;
  readonly statusCode?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  readonly validation?: readonly Violation[];
  readonly validationContext?: string;
}

/** A violation of a JSON Schema. */
interface Violation {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The schema that is violated. Ajv adds it when it is verbose. */
  readonly parentSchema?: { readonly properties?: object };
}

const PLACES: Readonly<Record<string, string>> = {
  querystring: 'the query',
  body: 'the body',
  params: 'the path',
};

/** The fields of bodies that are 64-bit numbers. */
const INTEGERS = new Set(['start', 'next', 'min', 'max', 'first']);

/** A message such as `count in the query must be <= 10000`. */
function violationMessage(violation: Violation, context = ''): string {
  const { instancePath, keyword, message, params, parentSchema } = violation;
  const place = PLACES[context] ?? 'the request';
  const { additionalProperty: surplus } = params;
  if (keyword === 'additionalProperties') return unknownProperty(String(surplus), place, parentSchema);
  const name = instancePath.slice(1).replaceAll('/', '.');
  const { allowedValues } = params as { allowedValues?: readonly unknown[] };
  if (keyword === 'enum' && allowedValues !== undefined)
    return `${name} in ${place} must be ${allowedValues.map((each) => JSON.stringify(each)).join(' or ')}`;
  if (INTEGERS.has(name)) return `${name} in ${place} must be an integer, as a decimal string`;
  return `${name === '' ? place : `${name} in ${place}`} ${message ?? 'is not valid'}`;
}

/** A message such as `"cuont" in the query is unknown; did you mean "count"? (known: count, public)`. */
function unknownProperty(name: string, place: string, schema: Violation['parentSchema']): string {
  const known = Object.keys(schema?.properties ?? {});
  const names = known.length > 0 ? knownNames(name, known) : ' (this route has no parameters)';
  return `${JSON.stringify(name.slice(0, 60))} in ${place} is unknown${names}`;
}
