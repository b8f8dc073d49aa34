import { type Clock, wholeMs } from '../clock.js';
import { reverseBytes, swapNibbles } from '../encoding/bits.js';
import { InvalidOptionError, TimeExhaustedError } from '../errors.js';
import { requireInteger, show } from '../options.js';
import { OwnCounter } from './counter.js';
import { identityWords, MAX_MS, stampWord2 } from './layout.js';
import type { LocalityMode, SharedLocality } from './options.js';
import { sequentialSeed, windowNumber } from './seed.js';
import { type Settings, separateTimeline, shareSettings } from './settings.js';
import { ID_LENGTH, Sheet } from './text.js';

/** A prime, so that a counter which adds it visits all 2^32 values, and its lowest byte all 256 in turn. */
const STEP = 198_491_317;
/** Ids on a sheet of text. One id that is kept keeps its sheet: 64 make 2.3 kB. */
const SHEET = 64;
/** Ids written as bytes between two looks at the clock: a few microseconds' worth. */
const STRIDE = 512;
/** More ids of text in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;

/** Mints ids as text and bytes: what `LocalityGenerator` and the process-wide default generator have in common. */
export class LocalityMinter {
  readonly #clock: Clock;
  #settings: Settings;
  #mode: LocalityMode;
  #seededIn: number;
  #handle: SharedLocality | undefined;
  readonly #word1: number;
  readonly #word2: number;

  readonly #sheet: Sheet;
  #sheetMs = -1;
  // Texts printed ahead for the clock's reading `#reading`, of which those from `#at` to `#end` are unused.
  #reading = -1;
  #text = '';
  #at = 0;
  #end = 0;
  #ahead = 1;

  constructor(settings: Settings, handle?: SharedLocality) {
    this.#clock = settings.clock;
    this.#settings = settings;
    this.#mode = settings.mode;
    this.#seededIn = settings.seededIn;
    this.#handle = handle;
    ({ word1: this.#word1, word2: this.#word2 } = identityWords(settings.node, settings.flavour));
    this.#sheet = new Sheet(SHEET, this.#word1, this.#word2);
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
    this.#takeBack();
    const ids = new Array<string>(count);
    for (let done = 0; done < count; ) {
      const end = Math.min(done + SHEET, count);
      const text = this.#print(this.#clock.now(), end - done);
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
    if (!(target instanceof Uint8Array)) {
      throw new InvalidOptionError(`target must be a Uint8Array, not ${show(target)}`);
    }
    this.#takeBack();
    const count = Math.floor(target.length / 16);
    const view = new DataView(target.buffer, target.byteOffset, count * 16);
    for (let done = 0; done < count; done += STRIDE) this.#write(view, done, Math.min(count - done, STRIDE));
    return count;
  }

  /** From now on neighbours: seed + 1, seed + 2 and so on. Changes nothing if the mode is sequential already. */
  useSequentialIds(): void {
    if (this.#mode === 'sequential') return;
    const now = wholeMs(this.#clock.now());
    this.#takeBack();
    this.#mode = 'sequential';
    this.#seed(now);
  }

  /** From now on spread over all leading bytes. Goes on from the present counter. */
  useVariableIds(): void {
    if (this.#mode === 'variable') return;
    this.#takeBack();
    this.#mode = 'variable';
    this.#restart(this.#settings.counter.add(0));
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
    if (this.#handle === undefined) {
      this.#takeBack();
      const { handle, ...settings } = shareSettings({ ...this.#settings, mode: this.#mode });
      this.#settings = settings;
      this.#handle = handle;
    }
    return this.#handle;
  }

  /** Prints one id for a new reading of the clock; while calls keep coming within it, twice as many each time. */
  #printAhead(now: number): string {
    const goesOn = now === this.#reading && this.#handle === undefined;
    this.#takeBack();
    const count = goesOn ? Math.min(2 * this.#ahead, SHEET) : 1;
    this.#text = this.#print(now, count);
    this.#reading = now;
    this.#ahead = count;
    this.#at = ID_LENGTH;
    this.#end = count * ID_LENGTH;
    return this.#text.substring(0, ID_LENGTH);
  }

  /** Returns the counters of texts that were printed ahead and not used, so that the walk has no gap. */
  #takeBack(): void {
    const unused = (this.#end - this.#at) / ID_LENGTH;
    if (unused > 0) this.#settings.counter.add(-unused * this.#step);
    this.#at = this.#end = 0;
  }

  #print(now: number, count: number): string {
    const ms = this.#stamp(now, count);
    if (ms !== this.#sheetMs) {
      this.#sheet.stamp(ms);
      this.#sheetMs = ms;
    }
    const { counter, reversal } = this.#settings;
    const from = counter.add(count * this.#step);
    return this.#mode === 'variable'
      ? this.#sheet.variable(from, STEP, count, reversal === 'java')
      : this.#sheet.sequential(from, count);
  }

  /** Words are written little-endian, which this loop need not reverse on the machines that there are. */
  #write(view: DataView, first: number, count: number): void {
    const ms = this.#stamp(this.#clock.now(), count);
    const word1 = reverseBytes(this.#word1);
    const word2 = reverseBytes(stampWord2(this.#word2, ms));
    const word3 = reverseBytes(ms | 0);
    const variable = this.#mode === 'variable';
    const java = variable && this.#settings.reversal === 'java';
    const step = this.#step;
    let counter = this.#settings.counter.add(count * step);
    for (let at = first * 16, end = at + count * 16; at < end; at += 16) {
      counter = (counter + step) | 0;
      const digits = variable ? swapNibbles(counter) : reverseBytes(counter);
      view.setInt32(at, java && counter < 0 ? digits | 0xf0000000 : digits, true);
      view.setInt32(at + 4, word1, true);
      view.setInt32(at + 8, word2, true);
      view.setInt32(at + 12, word3, true);
    }
  }

  /** The time that the next `count` ids carry. */
  #stamp(now: number, count: number): number {
    const reading = wholeMs(now);
    if (reading >= MAX_MS) {
      throw new TimeExhaustedError(`48 bits of time end in the year 10889, the clock gave ${reading}`);
    }
    const { reseed, window } = this.#settings;
    if (reseed && this.#mode === 'sequential' && windowNumber(reading, window) > this.#seededIn)
      this.#seed(reading);
    return this.#settings.timeline.stamp(reading, count);
  }

  #seed(ms: number): void {
    const { window } = this.#settings;
    this.#seededIn = windowNumber(ms, window);
    this.#restart(sequentialSeed(ms, window));
  }

  /** Begins a new walk at `value`. A shared counter is left to the others. */
  #restart(value: number): void {
    const { timeline, reversal } = this.#settings;
    timeline.restart();
    this.#settings = {
      ...this.#settings,
      counter: new OwnCounter(value),
      timeline: timeline.seat?.joint ? separateTimeline(reversal, timeline.seat) : timeline,
    };
    this.#handle = undefined;
  }

  get #step(): number {
    return this.#mode === 'variable' ? STEP : 1;
  }
}
