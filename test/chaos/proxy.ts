import { FaultyProxy } from '../../packages/idsmith/src/cli/verify/proxy.ts';

export type { FaultyProxy, Loss } from '../../packages/idsmith/src/cli/verify/proxy.ts';

/** Opens a proxy before a port of this machine. */
export function proxyBefore(port: number): Promise<FaultyProxy> {
  return FaultyProxy.before({ host: '127.0.0.1', port });
}
