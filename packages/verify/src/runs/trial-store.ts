import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '../families.js';
import type { StoreFault } from '../faults.js';
import { FaultyProxy } from '../proxy/faulty-proxy.js';
import type { Target } from '../target.js';

/** A store of its own for a run, which may be restarted and crashed. */
export interface TrialStore {
  /** What processes open: the way through the proxies. */
  readonly target: Target;
  /** Where the store can forget: another way in for clients with a higher limit, and the ttl of their leases. */
  readonly long?: { readonly target: Target; readonly ttl: number };
  readonly proxies: readonly FaultyProxy[];
  /** Faults of the store itself, by name. */
  readonly faults: Readonly<Record<string, StoreFault>>;
  stop(): Promise<void>;
}

/** How to start a store for a run, and what to expect of it. */
export interface TrialSetup {
  /** The families that the store serves. */
  readonly families: readonly Family[];
  /** True if the store has a clock, and so can tell a wrong one. */
  readonly hasClock: boolean;
  /** The least difference of clocks that is wrong, ms. */
  readonly maxSkew: number;
  /** The number of processes that must mint again when all faults are over, of {@link NODE_IDS}. */
  readonly minting: number;
  /** True if the store lives and dies with its one process. */
  readonly isInProcess?: boolean;
  start(folder: string): Promise<TrialStore>;
}

/** The ttl of leases, ms. Short, so that the node id of a killed process is soon free again. */
export const TTL = 2000;

/** The namespace of chaos runs, and its size: fewer node ids than there are processes. */
export const CHAOS_NAMESPACE = 'chaos';
export const NODE_IDS = 5;

/** The longest wait for an answer of a store that is crashed and cut off, ms. Its client gives up long before. */
export const ANSWER_MS = 60_000;

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
