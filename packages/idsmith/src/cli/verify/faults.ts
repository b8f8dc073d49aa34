import { setTimeout as sleep } from 'node:timers/promises';
import type { Crew, Worker } from './crew.js';
import type { FaultyProxy } from './proxy.js';
import type { Fault, Step } from './schedule.js';

const HOUR = 3_600_000;

/** Everything that faults can befall. */
export interface Scene {
  readonly crew: Crew;
  readonly proxies: readonly FaultyProxy[];
  /** The ttl of all leases, ms. */
  readonly ttl: number;
  readonly signal: AbortSignal;
}

/** Lets a fault happen, and waits until it is over. */
export async function happen({ fault, victim, strength }: Step, scene: Scene): Promise<void> {
  const { crew, proxies, ttl, signal } = scene;
  const wait = (ms: number) => sleep(ms, undefined, { signal });
  const worker = crew.pick(victim);
  const during = async (ms: number, harm: (proxy: FaultyProxy) => void) => {
    for (const proxy of proxies) harm(proxy);
    try {
      await wait(ms);
    } finally {
      for (const proxy of proxies) proxy.heal();
    }
  };
  switch (fault) {
    case 'connections cut':
      return during(100 + 700 * strength, (proxy) => proxy.cut());
    case 'messages delayed':
      // Up to more than a third of the ttl, which is as long as a lease waits for an answer.
      return during(500 + 500 * strength, (proxy) => proxy.delay(50 + (ttl / 2) * strength));
    case 'connections half-open':
      return during(400 + 600 * strength, (proxy) => proxy.halfOpen('everything'));
    case 'connections half-open, answers lost':
      return during(400 + 600 * strength, (proxy) => proxy.halfOpen('answers'));
  }
  if (worker !== undefined) await befall(worker, fault, strength, scene, wait);
}

async function befall(
  worker: Worker,
  fault: Exclude<Fault, `connections ${string}` | `messages ${string}`>,
  strength: number,
  { crew, ttl }: Scene,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  switch (fault) {
    case 'killed with -9':
      await worker.kill();
      return crew.hire();
    case 'ended and started again':
      await worker.end();
      return crew.hire();
    case 'stopped for longer than its lease':
      worker.stop();
      return wait(ttl * (1.2 + 0.4 * strength)).finally(() => worker.goOn());
    case 'clock an hour ahead':
    case 'clock an hour behind':
      worker.setClock(fault === 'clock an hour ahead' ? HOUR : -HOUR);
      return wait(600 + 600 * strength).finally(() => worker.setClock(0));
    default:
      worker.setTrouble({ fault, delay: (ttl / 2) * (0.5 + strength) });
      return wait(400 + 400 * strength).finally(() => worker.setTrouble({ fault: 'none', delay: 0 }));
  }
}
