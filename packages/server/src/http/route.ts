import type { FastifyReply, FastifyRequest } from 'fastify';

/** A JSON Schema, as it stands in the OpenAPI document too. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a token may allow. */
export const SCOPES = ['mint', 'lease', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** What a handler gives: text and bytes are JSON already, an object becomes it, and nothing is an empty answer. */
export type Answer = string | Buffer | object | undefined;

/** One operation. From these the server is made, and its document. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With its parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** Which token it takes: one with that scope, `'any'` token, or none because it is `'public'`. */
  readonly scope: Scope | 'any' | 'public';
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** The status of success, its content type unless it is JSON, and what it then says. */
  readonly status?: number;
  readonly type?: string;
  readonly answer?: Schema;
  /** The problems to be expected besides those that every route has. */
  readonly problems?: readonly number[];
  /** Whether it may wait for the store, and so counts against the requests in flight. */
  readonly waits?: boolean;
  /** Whether it is answered also when there is too much to do, so that one can see that there is. */
  readonly always?: boolean;
  handle(request: FastifyRequest, reply: FastifyReply): Answer | Promise<Answer>;
}
