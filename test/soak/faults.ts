import { setTimeout as sleep } from 'node:timers/promises';
import { type Faults, storeFaults } from '../chaos/faults.ts';
import { between, type Random, shuffledForever } from '../chaos/random.ts';
import { HOUR, TTL } from '../chaos/settings.ts';
import type { IdArchive } from './id-archive.ts';
import type { Site } from './site.ts';

/** How far clocks jump on stores without a clock, ms. A longer jump would take node ids out of use for as long. */
const SHORT_JUMP = TTL;

/** What can befall the processes of a store. */
export function workerFaults(site: Site, archive: IdArchive, random: Random): Faults {
  const jump = async (ms: number) => {
    const victim = site.pick();
    victim.jumpClock(ms);
    await sleep(between(random, 600, 1200));
    victim.jumpClock(0);
  };
  const replace = async (how: 'kill' | 'end') => {
    const victim = site.pick();
    site.hire();
    await site.dismiss(victim, archive, how);
  };
  const far = site.setup.hasClock ? HOUR : SHORT_JUMP;
  const harmless = {
    'stopped past its ttl': async () => {
      const victim = site.pick();
      victim.pause();
      // Somebody else takes over its node ids, which it finds out when it goes on.
      if (!site.setup.isInProcess) site.hire();
      await sleep(TTL * between(random, 1.2, 1.6));
      victim.resume();
      if (site.setup.isInProcess) return;
      await sleep(TTL / 2);
      await site.dismiss(victim, archive, 'end');
    },
    'clock ahead': () => jump(far),
    'clock behind': () => jump(-far),
  };
  // A store within a process does not survive its process.
  if (site.setup.isInProcess) return harmless;
  return {
    ...harmless,
    'killed with -9': () => replace('kill'),
    'asked to release': () => replace('end'),
  };
}

/** What can befall the store and the ways to it. */
export function faultsOfStore({ store }: Site, random: Random): Faults {
  return storeFaults({ ...store, target: { url: '' } }, random);
}

/** One after another, each counted, with a pause between them, until `signal`. */
export async function faultByFault(
  { faults: counts }: Site,
  faults: Faults,
  random: Random,
  { pause, signal }: { pause: readonly [from: number, to: number]; signal: AbortSignal },
): Promise<void> {
  const names = Object.keys(faults);
  if (names.length === 0) return;
  for (const name of shuffledForever(random, names)) {
    await sleep(between(random, ...pause), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await faults[name]!();
  }
}
