import type { Scope } from '../api/types.js';
import { useServer } from './use-server.js';

/** The reason why the token of this tab does not allow an action; `undefined` if it does, or if that is not known yet. */
export function useMissingScope(scope: Scope): string | undefined {
  return missingScope(useServer()?.scopes, scope);
}

/** @param scopes the scopes of the token; `undefined` while they are not known */
export function missingScope(scopes: readonly Scope[] | undefined, scope: Scope): string | undefined {
  if (scopes === undefined || scopes.includes(scope)) return undefined;
  return `the token of this tab does not have the scope ${scope}, only ${scopes.join(' and ') || 'none'}`;
}
