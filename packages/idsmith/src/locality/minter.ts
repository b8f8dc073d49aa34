import { type Clock, systemClock } from '../clock.js';
import { bindLease, generatorClosed, type LeaseUser, type LeaseWindow } from '../lease/window.js';
import { isA, refuse, requireInteger, requireMethod } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import { requireThreads } from '../support/shared-memory.js';
import { identityWords, LEASED_NODES, sampleId, writeIds } from './layout.js';
import { chooseNode, isLease, type LocalityNode, leasedNode, type NodeOption } from './node.js';
import {
  type LocalityMode,
  type LocalityOptions,
  type LocalityStyle,
  requireOptions,
  type SharedLocality,
} from './options.js';
import { randomSeed, sequentialSeed, windowNumber } from './seed.js';
import { ID_LENGTH, Sheet, type Spelling } from './text.js';
import { readingMs, Timeline } from './timeline.js';

/** A prime: a counter that adds it visits all 2^32 values, and its lowest byte all 256 in turn. */
const STEP = 198_491_317;
/** The ids before a counter's text can repeat: 2^32, or 2^24 with Java's reversal, which drops four bits. */
const SPAN = { full: 2 ** 32, java: 2 ** 24 };
/** Ids on a sheet of text. An id that the caller keeps holds its sheet in memory: 64 ids are 2.3 kB. */
const SHEET = 64;
/** Ids written as bytes between two readings of the clock: a few microseconds of work. */
const STRIDE = 512;
/** The largest batch. More ids in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;

/**
 * The options that decide where a generator begins. Nothing is drawn and no machine is looked at before the first id, because some
 * runtimes forbid both while modules load.
 */
interface Origin {
  readonly node: NodeOption;
  readonly clock: Clock;
  readonly counter: number | undefined;
  readonly random: RandomSource;
}

/** The engine of `LocalityGenerator`, which documents the methods, and of the process-wide default generator. */
export class LocalityMinter {
  readonly #clock: Clock;
  readonly #style: LocalityStyle;
  readonly #isLeased: boolean;
  #isClosed = false;
  #node!: LocalityNode;
  #words!: readonly [number, number];
  #sheet!: Sheet;
  #mode: LocalityMode = 'variable';
  /** The number that the mode adds for each id, and the way it writes the sum. */
  #step = STEP;
  #spelling: Spelling = 'reverse';
  /** The number of the window that gave the sequential seed. */
  #seededIn = 0;
  /** The last counter used, and the times that ids may carry. */
  #counter = 0;
  #timeline!: Timeline;
  /** The options that decide the node and the first counter; `undefined` when they are decided. */
  #origin: Origin | undefined;
  /** The shared counter and its time, in place of the two above, while other threads count along. */
  #shared: ThreadCounter | undefined;
  #handle: SharedLocality | undefined;
  /** The time of the ids claimed last. */
  #ms = 0;

  // Text of ids printed ahead for the clock reading `#reading`. The characters from `#at` to `#end` are unused. NaN stands
  // for no reading: it equals nothing, not even a clock's own NaN.
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
    this.#isLeased = !handle && isLease(options.node);
    if (handle) {
      this.#become(handle.node);
      this.#handle = handle;
      this.#seededIn = handle.seededIn;
      this.#shared = requireThreads(threads).attach(handle);
      return;
    }
    const { node = 'auto', counter } = options;
    if (counter !== undefined) requireInteger('counter', counter, -(2 ** 31), 2 ** 32 - 1);
    this.#origin = { node, clock: this.#clock, counter, random };
    // The other two draw random numbers, or look at the machine. That waits for the first id.
    if (node !== 'auto' && node !== 'random') this.#settle(chooseNode(this.#origin, random));
    // The last step, because a lease stays bound.
    if (isLease(node)) this.#enter(node[bindLease](this.#leaseUser()));
  }

  get node(): LocalityNode {
    this.#begin();
    return { ...this.#node, mac: this.#node.mac.slice() };
  }

  next(): string {
    const now = this.#clock.now();
    const at = this.#at;
    if (now === this.#reading && at < this.#end) {
      this.#at = at + ID_LENGTH;
      return this.#text.substring(at, at + ID_LENGTH);
    }
    return this.#printAhead(now);
  }

  batch(count: number): string[] {
    requireInteger('count', count, 0, MAX_BATCH);
    this.#requireOpen();
    const ids = new Array<string>(count);
    for (let done = 0; done < count; ) {
      const end = Math.min(done + SHEET, count);
      const text = this.#print(this.#read(), end - done);
      for (let at = 0; done < end; at += ID_LENGTH) ids[done++] = text.substring(at, at + ID_LENGTH);
    }
    return ids;
  }

  fill(target: Uint8Array): number {
    if (!isA('Uint8Array', target)) refuse('target', 'a Uint8Array', target);
    this.#requireOpen();
    const count = Math.floor(target.length / 16);
    if (count === 0) return 0;
    const view = new DataView(target.buffer, target.byteOffset, count * 16);
    for (let done = 0; done < count; done += STRIDE) this.#write(view, done, Math.min(count - done, STRIDE));
    return count;
  }

  useSequentialIds(): void {
    this.#requireOpen();
    if (this.#mode === 'sequential') return;
    const now = this.#read();
    // The clock may have called this method, too.
    if (this.#mode !== 'variable') return;
    const seed = this.#seedFor(now);
    this.#takeBack();
    this.#setMode('sequential');
    this.#restart(seed);
  }

  useVariableIds(): void {
    this.#requireOpen();
    if (this.#mode === 'variable') return;
    this.#takeBack();
    const counter = this.#shared?.counter(this.#step) ?? this.#counter;
    this.#setMode('variable');
    this.#restart(counter);
  }

  share(): SharedLocality {
    this.#requireOpen();
    if (this.#handle) return this.#handle;
    const { requireShareable, share, attach } = requireThreads(threads);
    requireShareable(this.#isLeased);
    this.#takeBack();
    // The shared counter begins in a millisecond above all stamped so far.
    const ms = this.#timeline.stamp(0, 1, true);
    const memory = share(this.#timeline, this.#counter, ms);
    this.#shared = attach(memory);
    const { node } = this;
    this.#handle = { ...this.#style, ...memory, mode: this.#mode, node, seededIn: this.#seededIn };
    return this.#handle;
  }

  /** Ends minting with this generator. Returns the last time stamped with the leased node id, −1 if there is none. */
  close(): number {
    this.#isClosed = true;
    this.#forget();
    return this.#isLeased ? this.#timeline.close() : -1;
  }

  /** Prints one id for a new clock reading. While calls come with the same reading, prints twice as many each time. */
  #printAhead(now: number): string {
    this.#requireOpen();
    const goesOn = now === this.#reading && !this.#handle;
    const count = goesOn ? Math.min(2 * this.#ahead, SHEET) : 1;
    this.#text = this.#print(readingMs(now), count);
    this.#reading = now;
    this.#ahead = count;
    this.#at = ID_LENGTH;
    this.#end = count * ID_LENGTH;
    return this.#text.substring(0, ID_LENGTH);
  }

  /** Returns the counters of unused ids that were printed ahead, so that the counter has no gap. */
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

  /** Reads the clock. Call this before any state is read: the clock may call this generator. */
  #read(): number {
    return readingMs(this.#clock.now());
  }

  /**
   * Claims `count` ids, sets `#ms` to their time, and returns the counter before the first id. A new seed window begins a
   * new counter. A call that throws changes nothing.
   */
  #claim(now: number, count: number): number {
    // The clock, which was read before, may have closed this generator.
    this.#requireOpen();
    const { reseed, window } = this.#style;
    if (reseed && this.#mode === 'sequential' && windowNumber(now, window) > this.#seededIn)
      return this.#claimAfresh(now, count);
    if (this.#shared) {
      const counter = this.#shared.take(now, count, this.#step);
      this.#ms = this.#shared.ms;
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

  /** Advances the counter of this generator by `ids`, and returns the value before. */
  #add(ids: number): number {
    const counter = this.#counter;
    this.#counter = (counter + Math.imul(ids, this.#step)) | 0;
    return counter;
  }

  /** Makes the generator ready to mint. @throws ClosedError when the generator was closed or its lease released */
  #requireOpen(): void {
    if (this.#isClosed) throw generatorClosed();
    this.#begin();
  }

  /** Chooses the node and the first counter, unless that was done. */
  #begin(): void {
    const origin = this.#origin;
    if (origin === undefined) return;
    const { counter, random } = origin;
    const now = this.#mode === 'sequential' ? this.#read() : 0;
    const chosen = this.#timeline === undefined ? chooseNode(origin, random) : undefined;
    const start = this.#mode === 'variable' && counter === undefined ? randomSeed(random) : counter;
    // The clock and the random source may be code that mints with this generator.
    if (this.#origin === undefined) return;
    this.#origin = undefined;
    if (chosen !== undefined) this.#settle(chosen);
    const seed = this.#mode === 'sequential' ? this.#seedFor(now) : 0;
    this.#counter = (start ?? seed) | 0;
  }

  /** Takes a node, and the ledger in which its generators claim milliseconds. */
  #settle({ node, ledger }: ReturnType<typeof chooseNode>): void {
    this.#become(node);
    this.#timeline = new Timeline(ledger, SPAN[this.#style.reversal]);
  }

  /** This generator, as its lease sees it. */
  #leaseUser(): LeaseUser {
    return {
      nodes: LEASED_NODES[this.#style.format],
      isPlain: this.#mode === 'sequential',
      move: (window) => this.#enter(window),
      close: () => this.close(),
    };
  }

  /** Continues in another window, or in the same window with a later end. */
  #enter(window: LeaseWindow): void {
    requireInteger('node', window.node, 0, LEASED_NODES[this.#style.format] - 1);
    this.#forget();
    this.#become({ ...leasedNode(window.node), source: 'lease' });
    this.#timeline.enter(window);
  }

  #become(node: LocalityNode): void {
    this.#node = node;
    this.#words = identityWords(node, this.#style.format);
    this.#sheet = new Sheet(SHEET, sampleId(this.#words));
  }

  /** Discards ids that were printed ahead. */
  #forget(): void {
    this.#takeBack();
    this.#reading = Number.NaN;
  }

  /** The seed of the window that contains `now`, which becomes the present window. */
  #seedFor(now: number): number {
    const { window } = this.#style;
    this.#seededIn = windowNumber(now, window);
    return sequentialSeed(now, window);
  }

  /** Begins again at `counter`. Other threads keep a shared counter. */
  #restart(counter: number): void {
    this.#goAlone(this.#ownTimeline(), counter);
    this.#timeline.restart();
  }

  #goAlone(timeline: Timeline, counter: number): void {
    this.#timeline = timeline;
    this.#counter = counter;
    this.#shared = undefined;
    this.#handle = undefined;
  }

  /** A timeline for this generator alone. Claims of a shared counter belong to the other threads, too. */
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

/** A counter that several threads advance, with the milliseconds of its ids. */
export interface ThreadCounter {
  /** The time of the last ids taken. */
  readonly ms: number;
  /** The counter of the last id taken by any thread. */
  counter(step: number): number;
  /**
   * Takes `count` ids, sets `ms` to their time, and returns the counter before the first id.
   *
   * @throws TimeExhaustedError when the time does not fit 48 bits
   */
  take(reading: number, count: number, step: number): number;
}

/** The memory that threads share, and the number under which they claim milliseconds. */
type ThreadMemory = Pick<SharedLocality, 'counter' | 'ledger' | 'stream'>;

/** The code behind `share()` and `attach()` of a generator. */
export interface LocalityThreads {
  /** @throws InvalidOptionError when the runtime has no shared memory, or there is a lease */
  requireShareable(isLeased: boolean): void;
  /** Makes shared memory for a counter that has claimed the millisecond `ms`. */
  share(timeline: Timeline, counter: number, ms: number): ThreadMemory;
  /**
   * Checks a handle, which may have come from anywhere.
   *
   * @throws InvalidOptionError naming the first part that is wrong
   */
  requireHandle(handle: SharedLocality): SharedLocality;
  attach(memory: ThreadMemory): ThreadCounter;
}

let threads: LocalityThreads | undefined;

/** Gives `share()` and `attach()` their code. */
export function provideLocalityThreads(code: LocalityThreads): LocalityThreads {
  threads = code;
  return code;
}

/** Checks a handle for `attach()`. @throws InvalidOptionError naming the first part that is wrong */
export function requireLocalityHandle(handle: SharedLocality): SharedLocality {
  return requireThreads(threads).requireHandle(handle);
}
