import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalid, RequestProblem } from '../http/problem.js';
import type { Transit } from '../http/response-backlog.js';
import type { Route } from '../http/route.js';
import type { Caller, Keyring } from './keyring.js';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** The names of this machine, with any port. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Lets a request pass, or throws a `RequestProblem`. */
type Check = (request: FastifyRequest, reply: FastifyReply) => void;

/** Who may call a route, from where and how often. */
export function guardOf({ method, scope, always }: Route, keyring: Keyring, transit: Transit): Check {
  const isUnsafe = method !== 'GET';
  let lastHost: string | undefined;
  return (request, reply) => {
    if (!always) transit.check(request, reply);
    const { headers } = request;
    const { host, origin, authorization } = headers;
    // A name of somebody else's that leads here would make pages of that name ours (DNS rebinding).
    if (!keyring.isRequired && host !== lastHost) {
      if (host === undefined || !LOOPBACK.test(host))
        throw new RequestProblem(403, 'FORBIDDEN', `without tokens this serves localhost only, not ${host}`);
      lastHost = host;
    }
    if (isUnsafe && (origin !== undefined || headers['sec-fetch-site'] !== undefined))
      refuseOtherSites(headers);
    if (scope === 'public') return;
    const caller = keyring.callerOf(authorization);
    if (scope !== 'any' && !caller.scopes.includes(scope))
      throw new RequestProblem(403, 'FORBIDDEN', `this needs a token with the scope ${scope}`);
    caller.bucket?.take();
    request.caller = caller;
  };
}

/** Browsers say which site a request comes from. What other programs send has neither header. */
function refuseOtherSites(headers: FastifyRequest['headers']): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn = origin === undefined || (host !== undefined && origin.split('//', 2)[1] === host);
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new RequestProblem(403, 'FORBIDDEN', 'pages of other sites may not change anything here');
}

/** The `count` of a request, within what its token may have. */
export function countOf(request: FastifyRequest): number {
  const { count } = request.query as { count: number };
  const most = request.caller?.batch ?? 0;
  if (count > most) throw invalid(`count must be at most ${most} for this token, not ${count}`);
  return count;
}

/** A check as a hook of Fastify. */
export function asHook(check: Check) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    try {
      check(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}
