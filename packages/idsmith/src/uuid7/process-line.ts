import { ClockError } from '../errors.js';
import { show } from '../options.js';
import { systemRandom } from '../random.js';
import { MAX_MS } from './layout.js';
import { LocalPosition } from './position.js';
import { RandomWords } from './random-words.js';

// The ids that a thread makes without a generator: `uuid7()` and typed ids. All of them lie on one line, on which every id that
// is claimed is larger than all before. Nothing is drawn and no clock is read before the first id, because some runtimes forbid
// both while modules load.

const position = /* @__PURE__ */ new LocalPosition();
const random = /* @__PURE__ */ new RandomWords(systemRandom);

/** A run of ids that was claimed. Its owner writes the ids at once, with the random numbers from index `first` on. */
export interface ClaimedRun {
  readonly run: LocalPosition;
  readonly words: Uint32Array;
  readonly first: number;
}

/**
 * Claims the next `count` ids of this thread for a reading of the clock.
 *
 * @throws ClockError when the clock gives no time that fits 48 bits, which end in the year 10889
 */
export function claimRun(now: number, count: number): ClaimedRun {
  if (!(now >= 0 && now <= MAX_MS))
    throw new ClockError(`the clock must give Unix milliseconds from 0 to ${MAX_MS}, not ${show(now)}`);
  // Two numbers more, for the start of a millisecond.
  const at = random.take(count + 2, now);
  const { words } = random;
  position.claim(Math.floor(now), count, words, 2 * at);
  return { run: position, words, first: at + 2 };
}
