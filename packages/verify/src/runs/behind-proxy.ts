import { setTimeout as sleep } from 'node:timers/promises';
import { FaultyProxy } from '../proxy/faulty-proxy.js';
import { type TrialStore, TTL } from './trial-store.js';

/** A server that a run may crash, stop and start again, on the same port and data. */
export interface TrialServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  restart(): Promise<void>;
  /** Ends the server as a crash does. */
  kill(): Promise<void>;
  /** Lets the server stand still, with its connections open. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/**
 * A server behind a proxy, to be restarted and crashed.
 *
 * @param targetOf what processes open, from the URL of the server by way of the proxy. Default: the URL
 */
export async function behindProxy(
  server: TrialServer,
  targetOf: (proxied: string) => TrialStore['target'] | string = (proxied) => proxied,
): Promise<TrialStore> {
  const proxy = await FaultyProxy.before(server.port);
  const target = targetOf(server.url.replace(`:${server.port}`, `:${proxy.port}`));
  return {
    target: typeof target === 'string' ? { url: target } : target,
    proxies: [proxy],
    faults: {
      'store restarted': () => server.restart(),
      'store crashed': async () => {
        await server.kill();
        await server.start();
      },
      'store paused': async () => {
        server.pause();
        await sleep(TTL / 2);
        server.resume();
      },
    },
    async stop() {
      await proxy.close();
      await server.stop();
    },
  };
}
