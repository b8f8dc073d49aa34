import type { FastifyRequest } from 'fastify';
import { invalidRequest, RequestProblem } from '../http/problem.js';
import type { Route } from '../http/route.js';
import type { AcceptedTokens } from './accepted-tokens.js';

/** The names of this machine, with any port. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Makes the check of a route's callers: the host name they use, the site they come from, their token and its rate. The check sets
 * `request.caller`, or throws a `RequestProblem`.
 *
 * @param ownOrigin the origin of the console behind a proxy; an empty text for none
 */
export function guardOf(
  { method, scope }: Route,
  tokens: AcceptedTokens,
  ownOrigin: string,
): (request: FastifyRequest) => void {
  const isUnsafe = method !== 'GET';
  let lastHost: string | undefined;
  return (request) => {
    const { headers } = request;
    const { host, origin, authorization } = headers;
    // A foreign host name that resolves to this machine would give foreign pages access (DNS rebinding).
    if (!tokens.isRequired && host !== lastHost) {
      if (host === undefined || !LOOPBACK.test(host))
        throw new RequestProblem(
          403,
          'FORBIDDEN',
          `a server without tokens answers requests for localhost only, not for ${host}`,
        );
      lastHost = host;
    }
    if (isUnsafe && (origin !== undefined || headers['sec-fetch-site'] !== undefined))
      refuseOtherSites(headers, ownOrigin);
    if (scope === 'public') return;
    const caller = tokens.callerOf(authorization);
    if (scope !== 'any' && !caller.scopes.includes(scope))
      throw new RequestProblem(403, 'FORBIDDEN', `this needs a token with the scope ${scope}`);
    caller.bucket?.take();
    request.caller = caller;
  };
}

/** Refuses requests from pages of other sites. Browsers name the site in these headers; other programs send neither. */
function refuseOtherSites(headers: FastifyRequest['headers'], ownOrigin: string): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  const isOwnOrigin =
    origin === undefined || origin === ownOrigin || (host !== undefined && origin.split('//', 2)[1] === host);
  if (isOwnSite && isOwnOrigin) return;
  // A browser that calls the page's own site says so. The proxy in between has sent another host then.
  const isProxied = isOwnSite && /^https?:\/\/[\w.:[\]-]{1,255}$/.test(origin ?? '');
  throw new RequestProblem(
    403,
    'FORBIDDEN',
    `pages of other sites cannot change anything on this server${
      isProxied ? `; if ${origin} is this server behind a proxy, start it with --origin ${origin}` : ''
    }`,
  );
}

/** The ids whose work is that of one request: of a generator or a block; sharded keys; typed ids; public ids; printed numbers. */
export const IDS_PER_REQUEST = { plain: 100, key: 10, typed: 20, public: 5, printed: 2 } as const;

/**
 * The `count` of a request. The rate limit of the token counts the work of many ids as several requests.
 *
 * @throws RequestProblem 422 when the token allows fewer
 */
export function countOf(request: FastifyRequest, kind: keyof typeof IDS_PER_REQUEST = 'plain'): number {
  const { count } = request.query as { count: number };
  const most = request.caller?.batch ?? 0;
  if (count > most) throw invalidRequest(`count must be at most ${most} for this token, not ${count}`);
  if (count > 1) request.caller?.bucket?.charge((count - 1) / IDS_PER_REQUEST[kind]);
  return count;
}
