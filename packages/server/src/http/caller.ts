import 'fastify';

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
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` on public routes. */
    caller: Caller | null;
  }
}
