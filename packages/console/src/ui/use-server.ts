import { api } from '../api/routes.js';
import type { Scope, ServerJson } from '../api/types.js';
import { usePolling } from './use-polling.js';

/** The server's own description; `undefined` until it has arrived. */
export function useServer(): ServerJson | undefined {
  return usePolling('server', api.server, 30_000).data;
}

/** The reason why the token of this tab does not allow an action; `undefined` if it does, or if that is not known yet. */
export function useMissingScope(scope: Scope): string | undefined {
  return missingScope(useServer()?.scopes, scope);
}

/** @param scopes the scopes of the token; `undefined` while they are not known */
export function missingScope(scopes: readonly Scope[] | undefined, scope: Scope): string | undefined {
  if (scopes === undefined || scopes.includes(scope)) return undefined;
  return `the token of this tab does not have the scope ${scope}, only ${scopes.join(' and ') || 'none'}`;
}
