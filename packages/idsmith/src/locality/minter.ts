import { type Clock, systemClock, wholeMs } from '../clock.js';
import { bindLease, type LeaseUser, type LeaseWindow } from '../lease/window.js';
import { isA, refuse, requireInteger, requireMethod } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import { writeIds } from './bytes.js';
import { hyphenate, identityWords, LEASED_NODES } from './layout.js';
import { sharedLedger } from './ledger.js';
import { chooseNode, isLease, type LocalityNode, leasedNode } from './node.js';
import {
  type LocalityMode,
  type LocalityOptions,
  type LocalityStyle,
  requireOptions,
  type SharedLocality,
} from './options.js';
import { sequentialSeed, windowNumber } from './seed.js';
import { SharedWalk } from './shared-walk.js';
import { ID_LENGTH, Sheet, type Spelling } from './text.js';
import { checkTime, Timeline } from './timeline.js';

/** A prime, so that a counter which adds it visits all 2^32 values, and its lowest byte all 256 in turn. */
const STEP = 198_491_317;
/** No counter's text repeats within 2^32 ids; with Java's reversal, which drops four bits, within 2^24. */
const SPAN = { full: 2 ** 32, java: 2 ** 24 };
/** Ids on a sheet of text. One id that is kept keeps its sheet: 64 make 2.3 kB. */
const SHEET = 64;
/** Ids written as bytes between two looks at the clock: a few microseconds' worth. */
const STRIDE = 512;
/** More ids of text in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;

/** Mints ids as text and bytes: what `LocalityGenerator` and the process-wide default generator have in common. */
export class LocalityMinter {
  readonly #clock: Clock;
  readonly #style: LocalityStyle;
  readonly #isLeased: boolean;
  #node!: LocalityNode;
  #words!: readonly [number, number];
  #sheet!: Sheet;
  #mode: LocalityMode = 'variable';
  /** What the mode adds for each id, and how it writes the sum. */
  #step = STEP;
  #spelling: Spelling = 'reverse';
  /** The window that a sequential counter was seeded in. */
  #seededIn = 0;
  /** The last counter used, and which times ids may carry. */
  #counter = 0;
  #timeline!: Timeline;
  /** What takes the place of both while other threads count along. */
  #walk: SharedWalk | undefined;
  #handle: SharedLocality | undefined;
  /** The time of the ids claimed last. */
  #ms = 0;

  // Texts printed ahead for the clock's reading `#reading`, of which those from `#at` to `#end` are unused. NaN is no reading:
  // it equals none, not even a clock's own NaN.
  #reading = Number.NaN;
  #text = '';
  #at = 0;
  #end = 0;
  #ahead = 1;

  constructor(options: LocalityOptions, handle?: SharedLocality) {
    this.#style = handle ?? requireOptions(options);
    this.#setMode(this.#style.mode);
    this.#clock = requireMethod('clock', 'now', options.clock, systemClock);
    const random = requireMethod('random', 'fill', options.random, systemRandom);
    const { node, ledger } = handle ?? chooseNode(options, random);
    this.#become(node);
    this.#isLeased = !handle && isLease(options.node);
    if (handle) {
      this.#handle = handle;
      this.#seededIn = handle.seededIn;
      this.#walk = new SharedWalk(handle.counter, handle.ledger, handle.stream);
      return;
    }
    this.#timeline = new Timeline(ledger, SPAN[this.#style.reversal]);
    const { counter } = options;
    const seed = this.#mode === 'variable' ? randomWord(random) : this.#seedFor(this.#read());
    this.#counter =
      (counter === undefined ? seed : requireInteger('counter', counter, -(2 ** 31), 2 ** 32 - 1)) | 0;
    // At last, for a lease that is bound stays so.
    if (isLease(options.node)) this.#enter(options.node[bindLease](this.#leaseUser()));
  }

  /** The node in its ids, and where that comes from. With a lease it is the present one. A copy. */
  get node(): LocalityNode {
    return { ...this.#node, mac: this.#node.mac.slice() };
  }

  /**
   * The next id.
   *
   * @throws ClockError when the clock gives no time
   * @throws LeaseFencedError when the time lies outside the lease's window
   */
  next(): string {
    const now = this.#clock.now();
    const at = this.#at;
    if (now === this.#reading && at < this.#end) {
      this.#at = at + ID_LENGTH;
      return this.#text.substring(at, at + ID_LENGTH);
    }
    return this.#printAhead(now);
  }

  /**
   * `count` ids at once.
   *
   * @throws InvalidOptionError unless `count` is a whole number from 1 to 2^24
   */
  batch(count: number): string[] {
    requireInteger('count', count, 1, MAX_BATCH);
    const ids = new Array<string>(count);
    for (let done = 0; done < count; ) {
      const end = Math.min(done + SHEET, count);
      const text = this.#print(this.#read(), end - done);
      for (let at = 0; done < end; at += ID_LENGTH) ids[done++] = text.substring(at, at + ID_LENGTH);
    }
    return ids;
  }

  /**
   * Fills `target` with as many whole ids of 16 bytes as it holds, and returns how many that is.
   *
   * @throws InvalidOptionError when `target` is not a `Uint8Array`
   */
  fill(target: Uint8Array): number {
    if (!isA('Uint8Array', target)) refuse('target', 'a Uint8Array', target);
    const count = Math.floor(target.length / 16);
    if (count === 0) return 0;
    const view = new DataView(target.buffer, target.byteOffset, count * 16);
    for (let done = 0; done < count; done += STRIDE) this.#write(view, done, Math.min(count - done, STRIDE));
    return count;
  }

  /** From now on neighbours: seed + 1, seed + 2 and so on. Changes nothing if the mode is sequential already. */
  useSequentialIds(): void {
    if (this.#mode === 'sequential') return;
    const now = this.#read();
    // The clock may have asked for it, too.
    if (this.#mode !== 'variable') return;
    const seed = this.#seedFor(now);
    this.#takeBack();
    this.#setMode('sequential');
    this.#restart(seed);
  }

  /** From now on spread over all leading bytes. Goes on from the present counter. */
  useVariableIds(): void {
    if (this.#mode === 'variable') return;
    this.#takeBack();
    const counter = this.#walk?.counter(this.#step) ?? this.#counter;
    this.#setMode('variable');
    this.#restart(counter);
  }

  /**
   * Puts the counter into shared memory and returns a handle for `attach()` in worker threads.
   *
   * The threads count on together in the mode of this moment. One that changes its mode later, or takes a new
   * seed, counts alone from then on, in milliseconds that the others do not use.
   *
   * @throws InvalidOptionError where the runtime has no `SharedArrayBuffer`, and for a generator with a lease
   */
  share(): SharedLocality {
    if (this.#handle) return this.#handle;
    if (this.#isLeased) refuse('share()', 'called on a generator without a lease', undefined);
    if (typeof SharedArrayBuffer === 'undefined') {
      refuse('share()', 'called where SharedArrayBuffer is: serve the page cross-origin isolated', undefined);
    }
    this.#takeBack();
    // Those who join the walk from here on begin in a millisecond above all stamped so far.
    const ms = this.#timeline.stamp(0, 1, true);
    const { stream } = this.#timeline;
    const ledger = sharedLedger(this.#timeline.ledger);
    const counter = SharedWalk.memory(this.#counter, ms);
    this.#walk = new SharedWalk(counter, ledger, stream);
    const walk = { counter, ledger, stream, seededIn: this.#seededIn };
    this.#handle = { ...this.#style, mode: this.#mode, node: this.node, ...walk };
    return this.#handle;
  }

  /** Prints one id for a new reading of the clock; while calls keep coming within it, twice as many each time. */
  #printAhead(now: number): string {
    const goesOn = now === this.#reading && !this.#handle;
    const count = goesOn ? Math.min(2 * this.#ahead, SHEET) : 1;
    this.#text = this.#print(checkedMs(now), count);
    this.#reading = now;
    this.#ahead = count;
    this.#at = ID_LENGTH;
    this.#end = count * ID_LENGTH;
    return this.#text.substring(0, ID_LENGTH);
  }

  /** Returns the counters of texts that were printed ahead and not used, so that the walk has no gap. */
  #takeBack(): void {
    const unused = (this.#end - this.#at) / ID_LENGTH;
    if (unused > 0) this.#counter = (this.#counter - unused * this.#step) | 0;
    this.#at = this.#end = 0;
  }

  #print(now: number, count: number): string {
    this.#takeBack();
    const counter = this.#claim(now, count);
    return this.#sheet.print(this.#ms, counter, count, this.#step, this.#spelling);
  }

  #write(view: DataView, first: number, count: number): void {
    const now = this.#read();
    this.#takeBack();
    const counter = this.#claim(now, count);
    const run = { ms: this.#ms, counter, step: this.#step, spelling: this.#spelling };
    writeIds(view, first, count, this.#words, run);
  }

  /** The clock is read before anything else is looked at: it may call this generator. */
  #read(): number {
    return checkedMs(this.#clock.now());
  }

  /**
   * Claims `count` ids: their time is then `#ms`, and the counter before the first of them is returned. Nothing changes
   * when this throws. Where the window has turned, a new walk is begun.
   */
  #claim(now: number, count: number): number {
    const { reseed, window } = this.#style;
    if (reseed && this.#mode === 'sequential' && windowNumber(now, window) > this.#seededIn)
      return this.#claimAfresh(now, count);
    if (this.#walk) {
      const counter = this.#walk.take(now, count, this.#step);
      this.#ms = this.#walk.ms;
      return counter;
    }
    this.#ms = this.#timeline.stamp(now, count);
    return this.#add(count);
  }

  #claimAfresh(now: number, count: number): number {
    const timeline = this.#ownTimeline();
    this.#ms = timeline.stamp(now, count, true);
    this.#goAlone(timeline, this.#seedFor(now));
    return this.#add(count);
  }

  /** Moves the own counter on by `ids`, and returns it as it was before. */
  #add(ids: number): number {
    const counter = this.#counter;
    this.#counter = (counter + Math.imul(ids, this.#step)) | 0;
    return counter;
  }

  /** This generator, as its lease sees it. */
  #leaseUser(): LeaseUser {
    return {
      nodes: LEASED_NODES[this.#style.format],
      move: (window) => this.#enter(window),
      close: () => {
        this.#forget();
        return this.#timeline.close();
      },
    };
  }

  /** Goes on in another window, or in the same one for longer. */
  #enter(window: LeaseWindow): void {
    requireInteger('node', window.node, 0, LEASED_NODES[this.#style.format] - 1);
    this.#forget();
    this.#become({ ...leasedNode(window.node), source: 'lease' });
    this.#timeline.enter(window);
  }

  #become(node: LocalityNode): void {
    this.#node = node;
    this.#words = identityWords(node, this.#style.format);
    this.#sheet = new Sheet(SHEET, sample(this.#words));
  }

  /** Texts that were printed ahead are no longer good. */
  #forget(): void {
    this.#takeBack();
    this.#reading = Number.NaN;
  }

  /** The seed of the window that `now` is in, which is the present one from here on. */
  #seedFor(now: number): number {
    const { window } = this.#style;
    this.#seededIn = windowNumber(now, window);
    return sequentialSeed(now, window);
  }

  /** Begins a new walk at `counter`. A shared one is left to the others. */
  #restart(counter: number): void {
    this.#goAlone(this.#ownTimeline(), counter);
    this.#timeline.restart();
  }

  #goAlone(timeline: Timeline, counter: number): void {
    this.#timeline = timeline;
    this.#counter = counter;
    this.#walk = undefined;
    this.#handle = undefined;
  }

  /** A timeline for this generator alone: another one than the walk's, whose claims are the others' too. */
  #ownTimeline(): Timeline {
    return this.#handle ? new Timeline(this.#handle.ledger, SPAN[this.#style.reversal]) : this.#timeline;
  }

  #setMode(mode: LocalityMode): void {
    const variable = mode === 'variable';
    this.#mode = mode;
    this.#step = variable ? STEP : 1;
    this.#spelling = !variable ? 'forward' : this.#style.reversal === 'java' ? 'java' : 'reverse';
  }
}

/**
 * @throws ClockError when the reading is no time
 * @throws TimeExhaustedError when it does not fit 48 bits
 */
function checkedMs(now: number): number {
  return checkTime(wholeMs(now));
}

function randomWord(random: RandomSource): number {
  const bytes = new Uint8Array(4);
  random.fill(bytes);
  return new DataView(bytes.buffer).getInt32(0, true);
}

/** The text of an id with those words in the middle. */
function sample([word1, word2]: readonly [number, number]): string {
  return hyphenate([0, word1, word2, 0].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join(''));
}
