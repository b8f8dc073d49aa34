import { setTimeout as sleep } from 'node:timers/promises';
import type { Crew } from './crew.ts';
import type { FaultyProxy, Loss } from './proxy.ts';
import { anyOf, between, type Random } from './random.ts';
import { HOUR, TTL } from './settings.ts';
import type { ChaosStore } from './stores.ts';

/** Faults by name. Each is over when its promise is. */
export type Faults = Readonly<Record<string, () => Promise<void>>>;

/** The fault that costs a store without a clock a node id for an hour. */
export const CLOCK_AHEAD = 'clock an hour ahead';

/** What can befall a process. */
export function processFaults(crew: Crew, random: Random): Faults {
  const jump = async (offset: number) => {
    const victim = crew.pick();
    victim.jumpClock(offset);
    await sleep(between(random, 600, 1200));
    victim.jumpClock(0);
  };
  const copy = async (isTold: boolean) => {
    const both = await crew.copyOne(isTold);
    await sleep(TTL * between(random, 1.2, 1.6));
    // One of them is one too many.
    await crew.end(anyOf(random, both));
  };
  return {
    'copied, and told so': () => copy(true),
    'copied, and the copy leaves the window to its original': () => copy(false),
    'killed with -9': async () => {
      await crew.pick().kill();
      crew.hire();
    },
    'stopped past its ttl': async () => {
      const victim = crew.pick();
      victim.pause();
      await sleep(TTL * between(random, 1.2, 1.6));
      victim.resume();
    },
    'asked to release': async () => {
      await crew.end(crew.pick());
      crew.hire();
    },
    [CLOCK_AHEAD]: () => jump(HOUR),
    'clock an hour behind': () => jump(-HOUR),
  };
}

/** What can befall the store and the ways to it. */
export function storeFaults({ faults, proxies }: ChaosStore, random: Random): Faults {
  if (proxies.length === 0) return faults;
  const during = async (ms: number, harm: (proxy: FaultyProxy) => void) => {
    // Of several nodes all are out of reach, or one.
    const affected = random() < 0.5 ? proxies : [anyOf(random, proxies)];
    for (const proxy of affected) harm(proxy);
    await sleep(ms);
    for (const proxy of affected) proxy.heal();
  };
  const halfOpen = (loss: Loss) => during(between(random, 400, 1000), (proxy) => proxy.halfOpen(loss));
  return {
    ...faults,
    'connections cut': () => during(between(random, 100, 800), (proxy) => proxy.cut()),
    'messages delayed': () => {
      // Up to more than a third of the ttl, which is as long as an answer is waited for.
      const ms = between(random, 50, TTL / 2);
      return during(between(random, 500, 1000), (proxy) => proxy.delay(ms));
    },
    'half-open, everything lost': () => halfOpen('everything'),
    'half-open, answers lost': () => halfOpen('answers'),
  };
}
