import type { FastifyRequest } from 'fastify';
import type { TokenBucket } from './token-bucket.js';

/** The scopes that a token can have. */
export const SCOPES = ['mint', 'lease', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** The sender of a request: the holder of a token, or anybody on this machine where no tokens are in use. */
export interface Caller {
  /** The id of the token; empty where no tokens are in use. */
  readonly id: string;
  /** The name of the token; empty where no tokens are in use. */
  readonly name: string;
  /** The time from which on the token is refused, Unix ms; `undefined` for a token without an end. */
  readonly expires?: number;
  readonly scopes: readonly Scope[];
  /** The most ids of one call. */
  readonly batch: number;
  /** The rate limit; `undefined` for none. */
  readonly bucket?: TokenBucket;
  /** The namespaces of leases that the caller may begin; `undefined` for any number. */
  readonly namespaces?: TokenBucket;
  /** The tenants of series that the caller may begin; `undefined` for any number. */
  readonly tenants?: TokenBucket;
}

/** True if the caller has the scope admin, or no tokens are in use. */
export const isAdmin = ({ caller }: { readonly caller: Caller | null }) =>
  caller?.scopes.includes('admin') ?? false;

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` on public routes. */
    caller: Caller | null;
  }
}

/** A JSON Schema. The OpenAPI document contains the same schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** The result of a handler. Text and bytes are sent as they are, an object as JSON, and `undefined` as an empty body. */
export type ResponseBody = string | Buffer | object | undefined;

/** One operation of the API. The server and its OpenAPI document are both made from these objects. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path, with its parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** The token that the route needs: one with this scope, `'any'` token, or none for `'public'`. */
  readonly scope: Scope | 'any' | 'public';
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** The status of success. Default 200. */
  readonly status?: number;
  /** The content type of success. Default JSON. */
  readonly contentType?: string;
  /** The schema of the body of success. */
  readonly response?: Schema;
  /** The statuses of problems that the route can have, besides those of every route. */
  readonly problems?: readonly number[];
  /** Set if the handler may wait for the store. Such requests count as requests in flight. */
  readonly waitsForStore?: boolean;
  /** Set if the body is the same bytes each time. Such bodies take no memory while they wait to be read. */
  readonly isConstant?: boolean;
  /** Set if the body is ASCII text, whose length needs no count. */
  readonly isAscii?: boolean;
  /** Set if responses carry an `ETag`. A client that has the body already gets 304. */
  readonly hasEtag?: boolean;
  handle(request: FastifyRequest): ResponseBody | Promise<ResponseBody>;
}
