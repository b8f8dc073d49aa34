import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from 'idsmith';

/** Codes of what goes wrong between HTTP and the library. */
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

/** An answer of `application/problem+json` (RFC 9457), with a stable `code`. */
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
};

/** What clients may be told of errors that are neither the library's nor this server's. */
const BY_STATUS: Readonly<Record<number, HttpCode>> = {
  400: 'MALFORMED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'TIMEOUT',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  // Fastify's own, while the server is closing.
  503: 'OVERLOADED',
};

/** Something that this server refuses, before the library is asked. */
export class RequestProblem extends Error {
  readonly status: number;
  readonly code: ErrorCode | HttpCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode | HttpCode,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A request that came well-formed but asks for what cannot be. */
export function invalid(detail: string): RequestProblem {
  return new RequestProblem(422, 'INVALID_OPTION', detail);
}

/** A problem, and the headers that go with it. */
export interface Trouble {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

/** What an error looks like to a client. What nobody has foreseen is not shown: it may hold anything. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof RequestProblem) return trouble(error.status, error.code, error.message, error.headers);
  const { code, message, statusCode, validation, validationContext } = (error ?? {}) as FastifyFailure;
  // By the code and not by the class: there may be two copies of the library.
  if (typeof code === 'string' && Object.hasOwn(STATUS, code)) {
    const status = STATUS[code as ErrorCode];
    return trouble(status, code as ErrorCode, message ?? code, status === 503 ? SOON : {});
  }
  if (validation?.[0] !== undefined)
    return trouble(422, 'INVALID_OPTION', sentenceOf(validation[0], validationContext));
  const known = BY_STATUS[statusCode ?? 0];
  if (known !== undefined) return trouble(statusCode as number, known, message ?? known);
  return trouble(500, 'INTERNAL', 'something went wrong here; the log of the server tells more');
}

/** Try again in a second. */
const SOON = { 'retry-after': '1' };

function trouble(
  status: number,
  code: Problem['code'],
  detail: string,
  headers: Trouble['headers'] = {},
): Trouble {
  return {
    problem: { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code },
    headers,
  };
}

/** What Fastify adds to its errors. */
interface FastifyFailure {
  readonly code?: string;
  readonly message?: string;
  readonly statusCode?: number;
  readonly validation?: readonly Violation[];
  readonly validationContext?: string;
}

interface Violation {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const PLACES: Readonly<Record<string, string>> = {
  querystring: 'the query',
  body: 'the body',
  params: 'the path',
};

/** `count in the query must be <= 10000`. */
function sentenceOf({ instancePath, keyword, message, params }: Violation, context = ''): string {
  const place = PLACES[context] ?? 'the request';
  const { additionalProperty: surplus } = params;
  if (keyword === 'additionalProperties') return `${JSON.stringify(surplus)} in ${place} is not known`;
  const name = instancePath.slice(1).replaceAll('/', '.');
  return `${name === '' ? place : `${name} in ${place}`} ${message ?? 'is not valid'}`;
}
