// Puts the code behind `share()` and `attach()` of the generators into a bundle, which leaves it out otherwise:
//
//   import 'idsmith/threads';
//
// Without a bundler nothing is left out, and this import changes nothing.

import { provideFlakeThreads } from '../flake/generator.js';
import { flakeThreads } from '../flake/shared-state.js';
import { provideLocalityThreads } from '../locality/minter.js';
import { localityThreads } from '../locality/shared-counter.js';
import { provideUuid7Threads } from '../uuid7/generator.js';
import { uuid7Threads } from '../uuid7/shared-position.js';

provideFlakeThreads(flakeThreads);
provideLocalityThreads(localityThreads);
provideUuid7Threads(uuid7Threads);
