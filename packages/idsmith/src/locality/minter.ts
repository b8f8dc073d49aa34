import { type Clock, systemClock, wholeMs } from '../clock.js';
import { reverseBytes, swapNibbles } from '../encoding/bits.js';
import { LeaseFencedError, TimeExhaustedError } from '../errors.js';
import { bindLease, type LeaseUser, type LeaseWindow } from '../lease/window.js';
import { isA, refuse, requireInteger, requireMethod } from '../options.js';
import { systemRandom } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import { hyphenate, identityWords, MAX_MS } from './layout.js';
import { chooseNode, isLease, leasedNode } from './node.js';
import {
  type LocalityMode,
  type LocalityOptions,
  type LocalityStyle,
  type SharedLocality,
  styleFrom,
} from './options.js';
import { sequentialSeed, windowNumber } from './seed.js';
import { ID_LENGTH, Sheet, type Spelling } from './text.js';
import { sharedLedger, Timeline } from './timeline.js';

/** A prime, so that a counter which adds it visits all 2^32 values, and its lowest byte all 256 in turn. */
const STEP = 198_491_317;
/** No counter's text repeats within 2^32 ids; with Java's reversal, which drops four bits, within 2^24. */
const SPAN = { full: 2 ** 32, java: 2 ** 24 };
/**
 * Of a shared walk each thread knows its own part only. 2^19 ids of one thread in one millisecond are more than
 * any machine makes, and 32 threads together stay within 2^24.
 */
const JOINT_SPAN = 2 ** 19;
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
  #node: MachineNode;
  #words: readonly [number, number];
  #sheet: Sheet;
  /** The end of a lease's window. */
  #until = Number.POSITIVE_INFINITY;
  #mode: LocalityMode = 'variable';
  /** What the mode adds for each id, and how it writes the sum. */
  #step = STEP;
  #spelling: Spelling = 'reverse';
  /** The last counter used, in private memory or in memory shared with other threads. */
  #counter: Int32Array;
  #timeline: Timeline;
  #handle: SharedLocality | undefined;
  /** The window that a sequential counter was seeded in. */
  #seededIn: number;

  // Texts printed ahead for the clock's reading `#reading`, of which those from `#at` to `#end` are unused.
  #reading = -1;
  #text = '';
  #at = 0;
  #end = 0;
  #ahead = 1;

  constructor(options: LocalityOptions, handle?: SharedLocality) {
    this.#style = styleFrom(handle ?? options);
    this.#setMode(this.#style.mode);
    this.#seededIn = handle?.seededIn ?? 0;
    this.#clock = requireMethod('clock', 'now', options.clock, systemClock);
    const random = requireMethod('random', 'fill', options.random, systemRandom);
    const { node, ledger } = handle ?? chooseNode(options, random);
    this.#node = node;
    this.#words = identityWords(node, this.#style.flavour);
    this.#sheet = new Sheet(SHEET, sample(this.#words));
    this.#handle = handle;
    this.#timeline = new Timeline(ledger, handle ? JOINT_SPAN : SPAN[this.#style.reversal], handle?.stream);

    this.#counter = new Int32Array(handle?.counter ?? new ArrayBuffer(4));
    if (handle) return;
    if (isLease(options.node)) this.#enter(options.node[bindLease](this.#leaseUser()));
    const seed = this.#mode === 'variable' ? 0 : this.#seedFor(this.#read());
    if (options.counter !== undefined) {
      this.#counter[0] = requireInteger('counter', options.counter, -(2 ** 31), 2 ** 32 - 1);
    } else if (this.#mode === 'variable') {
      random.fill(new Uint8Array(this.#counter.buffer as ArrayBuffer));
    } else {
      this.#counter[0] = seed;
    }
  }

  /**
   * The next id.
   *
   * @throws ClockError when the clock gives no time
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
    const seed = this.#seedFor(this.#read());
    this.#takeBack();
    this.#setMode('sequential');
    this.#restart(seed);
  }

  /** From now on spread over all leading bytes. Goes on from the present counter. */
  useVariableIds(): void {
    if (this.#mode === 'variable') return;
    this.#takeBack();
    this.#setMode('variable');
    this.#restart(this.#add(0));
  }

  /**
   * Puts the counter into shared memory and returns a handle for `attach()` in worker threads.
   *
   * The threads count on together in the mode of this moment. One that changes its mode later, or takes a new
   * seed, counts alone from then on, in milliseconds that the others do not use.
   *
   * @throws InvalidOptionError where the runtime has no `SharedArrayBuffer`
   */
  share(): SharedLocality {
    if (this.#handle) return this.#handle;
    if (this.#until < Number.POSITIVE_INFINITY)
      refuse('share()', 'called on a generator without a lease', undefined);
    if (typeof SharedArrayBuffer === 'undefined') {
      refuse('share()', 'called where SharedArrayBuffer is: serve the page cross-origin isolated', undefined);
    }
    this.#takeBack();
    this.#timeline.openToOthers();
    const ledger = sharedLedger(this.#timeline.ledger);
    const { stream } = this.#timeline;
    const counter = new SharedArrayBuffer(4);
    const shared = new Int32Array(counter);
    shared.set(this.#counter);
    this.#counter = shared;
    this.#timeline = new Timeline(ledger, JOINT_SPAN, stream);
    const node = { processId: this.#node.processId, mac: this.#node.mac.slice() };
    const walk = { counter, ledger, stream, seededIn: this.#seededIn };
    this.#handle = { ...this.#style, mode: this.#mode, node, ...walk };
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
    if (unused > 0) this.#add(-unused);
    this.#at = this.#end = 0;
  }

  #print(now: number, count: number): string {
    this.#takeBack();
    const ms = this.#timeFor(now, count);
    return this.#sheet.print(ms, this.#add(count), count, this.#step, this.#spelling);
  }

  /** Words are written little-endian, which is no work on the machines that there are. */
  #write(view: DataView, first: number, count: number): void {
    const now = this.#read();
    this.#takeBack();
    const ms = this.#timeFor(now, count);
    const word1 = reverseBytes(this.#words[0]);
    const word2 = reverseBytes(this.#words[1] | Math.floor(ms / 2 ** 32));
    const word3 = reverseBytes(ms | 0);
    const forward = this.#spelling === 'forward';
    const java = this.#spelling === 'java';
    const step = this.#step;
    let counter = this.#add(count);
    for (let at = first * 16, end = at + count * 16; at < end; at += 16) {
      counter = (counter + step) | 0;
      const digits = forward ? reverseBytes(counter) : swapNibbles(counter);
      view.setInt32(at, java && counter < 0 ? digits | 0xf0000000 : digits, true);
      view.setInt32(at + 4, word1, true);
      view.setInt32(at + 8, word2, true);
      view.setInt32(at + 12, word3, true);
    }
  }

  #read(): number {
    return checkedMs(this.#clock.now());
  }

  /** The time that the next `count` ids carry. Where the window has turned, a new walk is begun first. */
  #timeFor(now: number, count: number): number {
    const { reseed, window } = this.#style;
    if (reseed && this.#mode === 'sequential' && windowNumber(now, window) > this.#seededIn)
      this.#restart(this.#seedFor(now));
    const ms = this.#timeline.stamp(now, count);
    if (ms < this.#until) return ms;
    throw new LeaseFencedError(
      `the lease of node ${this.#node.processId} ended at ${this.#until}, or was released`,
    );
  }

  /** This generator, as its lease sees it. */
  #leaseUser(): LeaseUser {
    return {
      nodes: 2 ** 32,
      move: (window) => this.#enter(window),
      close: () => {
        const last = this.#until === 0 ? -1 : Math.min(this.#timeline.highest, this.#until - 1);
        this.#forget();
        this.#until = 0;
        return last;
      },
    };
  }

  /** Goes on in another window, or in the same one for longer. */
  #enter({ node, from, until }: LeaseWindow): void {
    this.#forget();
    this.#node = leasedNode(node);
    this.#words = identityWords(this.#node, this.#style.flavour);
    this.#sheet = new Sheet(SHEET, sample(this.#words));
    this.#timeline.startAt(from);
    this.#until = until;
  }

  /** Texts that were printed ahead are no longer good. */
  #forget(): void {
    this.#takeBack();
    this.#reading = -1;
  }

  /** The seed of the window that `now` is in, which is the present one from here on. */
  #seedFor(now: number): number {
    const { window } = this.#style;
    this.#seededIn = windowNumber(now, window);
    return sequentialSeed(now, window);
  }

  /** Begins a new walk at `counter`. A shared one is left to the others. */
  #restart(counter: number): void {
    if (this.#handle) this.#timeline = new Timeline(this.#timeline.ledger, SPAN[this.#style.reversal]);
    else this.#timeline.restart();
    this.#handle = undefined;
    this.#counter = Int32Array.of(counter);
  }

  /** Moves the counter on by `ids`, and returns it as it was before. */
  #add(ids: number): number {
    return Atomics.add(this.#counter, 0, ids * this.#step);
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
  const ms = wholeMs(now);
  if (ms <= MAX_MS) return ms;
  throw new TimeExhaustedError(`48 bits of time end in the year 10889, not at ${ms}`);
}

/** The text of an id with those words in the middle. */
function sample([word1, word2]: readonly [number, number]): string {
  return hyphenate([0, word1, word2, 0].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join(''));
}
