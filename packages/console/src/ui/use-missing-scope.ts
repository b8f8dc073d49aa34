import { api } from '../api/routes.js';
import type { Scope } from '../api/types.js';
import { usePolling } from './use-polling.js';

/** The reason why the token of this tab does not allow an action; `undefined` if it does, or if that is not known yet. */
export function useMissingScope(scope: Scope): string | undefined {
  const { data } = usePolling('server', api.server, 30_000);
  if (data?.scopes === undefined || data.scopes.includes(scope)) return undefined;
  return `the token of this tab does not have the scope ${scope}, only ${data.scopes.join(' and ') || 'none'}`;
}
