import { provideFlakeThreads } from './flake/generator.js';
import { flakeThreads } from './flake/shared-state.js';
import { provideLocalityThreads } from './locality/minter.js';
import { localityThreads } from './locality/shared-counter.js';
import { provideUuid7Threads } from './uuid7/generator.js';
import { uuid7Threads } from './uuid7/shared-position.js';

/**
 * Keeps `share()` and `attach()` of all generators in a bundle. A program that is bundled, and that shares generators with worker threads,
 * calls this once in each thread. Otherwise the bundler leaves their code out. Without a bundler this changes nothing.
 *
 * @example
 * enableThreads();
 * const handle = new FlakeGenerator({ node: 3 }).share();
 */
export function enableThreads(): void {
  provideFlakeThreads(flakeThreads);
  provideLocalityThreads(localityThreads);
  provideUuid7Threads(uuid7Threads);
}
