import { processLedger } from '#runtime';
import { type Clock, requireClock, wholeMs } from '../clock.js';
import { InvalidOptionError } from '../errors.js';
import { requireChoice, requireInteger, show } from '../options.js';
import { type RandomSource, randomUint32, requireRandom } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import { type Counter, OwnCounter, SharedCounter } from './counter.js';
import type { Flavour } from './layout.js';
import { Ledger } from './ledger.js';
import { randomNode, requireNode, thisMachine } from './node.js';
import type { LocalityMode, LocalityOptions, Reversal, SharedLocality } from './options.js';
import { type SeedWindow, sequentialSeed, windowNumber } from './seed.js';
import { type Seat, Timeline } from './timeline.js';

/** A counter's text repeats after 2^32 ids; with Java's reversal, which drops four bits, after 2^24. */
const HALF_WALK: Record<Reversal, number> = { full: 2 ** 31, java: 2 ** 23 };
/**
 * Of a shared walk each thread knows only its own part, so each goes round more often: 2^19 ids of one thread in one
 * millisecond are more than any machine makes, and 32 threads together still stay within 2^24.
 */
const HALF_OF_JOINT_WALK = 2 ** 18;

/** The options, checked and with their defaults, and the state to begin with. */
export interface Settings {
  readonly clock: Clock;
  readonly node: MachineNode;
  readonly reversal: Reversal;
  readonly flavour: Flavour;
  readonly window: SeedWindow;
  readonly reseed: boolean;
  readonly mode: LocalityMode;
  readonly counter: Counter;
  readonly timeline: Timeline;
  /** The window that a sequential counter was seeded in. */
  readonly seededIn: number;
}

/** @throws InvalidOptionError naming the first option that is wrong */
export function settingsFrom(options: LocalityOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`options must be an object, not ${show(options)}`);
  }
  const { reseed = false } = options;
  if (typeof reseed !== 'boolean') {
    throw new InvalidOptionError(`reseed must be true or false, not ${show(reseed)}`);
  }
  const clock = requireClock(options.clock);
  const random = requireRandom(options.random);
  const mode = requireChoice('mode', options.mode, ['variable', 'sequential']);
  const reversal = requireChoice('reversal', options.reversal, ['full', 'java']);
  const window = requireChoice('window', options.window, ['ten-minutes', 'hour']);
  const flavour = requireChoice('flavour', options.flavour, ['locality', 'rfc9562']);
  const { node, ledger } = chooseNode(options, random);
  const now = mode === 'sequential' ? wholeMs(clock.now()) : 0;
  return {
    ...{ clock, node, reversal, flavour, window, reseed, mode },
    counter: new OwnCounter(
      options.counter !== undefined
        ? requireInteger('counter', options.counter, -(2 ** 31), 2 ** 32 - 1)
        : mode === 'sequential'
          ? sequentialSeed(now, window)
          : randomUint32(random),
    ),
    timeline: new Timeline(HALF_WALK[reversal], ledger && seatIn(ledger)),
    seededIn: windowNumber(now, window),
  };
}

/**
 * Which node to write into ids, and the ledger that keeps its generators apart.
 *
 * All generators of a process that take its own identity, in whatever thread, must not meet. Who sets the
 * clock, the counter or the node decides for themselves. A worker thread that inherited no ledger cannot know
 * of the others, and takes a random node.
 */
function chooseNode(
  options: LocalityOptions,
  random: RandomSource,
): { node: MachineNode; ledger?: Ledger | undefined } {
  if (options.node !== undefined) return { node: requireNode(options.node, random) };
  const machine = thisMachine();
  const memory = processLedger();
  if (machine === undefined || memory === undefined) return { node: randomNode(random) };
  const alone = options.clock !== undefined || options.counter !== undefined;
  return { node: machine, ledger: alone ? undefined : new Ledger(memory) };
}

/** Moves a generator's state into shared memory. */
export function shareSettings(settings: Settings): Settings & { handle: SharedLocality } {
  if (typeof SharedArrayBuffer === 'undefined') {
    throw new InvalidOptionError('share() needs SharedArrayBuffer: serve the page cross-origin isolated');
  }
  const { clock, node, reversal, flavour, window, reseed, mode, timeline, seededIn } = settings;
  const { ledger, stream } = timeline.seat ?? seatIn(new Ledger(new SharedArrayBuffer(16)));
  ledger.raise(timeline.joinFrom, stream);
  const counter = SharedCounter.startingAt(settings.counter.add(0));
  const shared = { node, reversal, flavour, window, reseed, mode };
  return {
    ...{ ...shared, clock, counter, seededIn },
    timeline: jointTimeline({ ledger, stream }),
    handle: { ...shared, ledger: ledger.buffer, stream, counter: counter.buffer },
  };
}

/**
 * The settings of a generator that counts along with the one that gave the handle.
 *
 * @throws InvalidOptionError when that is not what `share()` gave
 */
export function settingsOf(handle: SharedLocality, clock: Clock | undefined): Settings {
  if (!(handle?.counter instanceof SharedArrayBuffer && handle.ledger instanceof SharedArrayBuffer)) {
    throw new InvalidOptionError(`attach() takes what share() gave, not ${show(handle)}`);
  }
  const { node, reversal, flavour, window, reseed, mode, stream } = handle;
  const checkedClock = requireClock(clock);
  return {
    ...{ node, reversal, flavour, window, reseed, mode },
    clock: checkedClock,
    counter: new SharedCounter(handle.counter),
    timeline: jointTimeline({ ledger: new Ledger(handle.ledger), stream }),
    seededIn: windowNumber(wholeMs(checkedClock.now()), window),
  };
}

/** A walk of one's own beside those who go on with the shared counter. */
export function separateTimeline(reversal: Reversal, { ledger }: Seat): Timeline {
  return new Timeline(HALF_WALK[reversal], seatIn(ledger));
}

function jointTimeline(seat: { ledger: Ledger; stream: number }): Timeline {
  return new Timeline(HALF_OF_JOINT_WALK, { ...seat, joint: true });
}

/** A stream of one's own in a ledger. */
function seatIn(ledger: Ledger): Seat {
  return { ledger, stream: ledger.enrol(), joint: false };
}
