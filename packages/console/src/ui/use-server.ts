import { api } from '../api/routes.js';
import type { ServerJson } from '../api/types.js';
import { usePolling } from './use-polling.js';

/** The server's own description; `undefined` until it has arrived. */
export function useServer(): ServerJson | undefined {
  return usePolling('server', api.server, 30_000).data;
}
