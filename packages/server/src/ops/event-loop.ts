import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** The length of one measurement, ms, and the number that is kept. Together they are the last minute. */
const SLICE = 10_000;
const SLICES = 6;

/** Delays of the event loop, seconds. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The delay of the event loop in the last minute. Reading changes nothing, so any number of readers see the same. */
export class EventLoop {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 });
  readonly #slices: LoopDelay[] = [];
  readonly #timer = setInterval(() => this.#turn(), SLICE).unref();

  constructor() {
    this.#histogram.enable();
  }

  /** The highest of the delays in the last minute. */
  read(): LoopDelay {
    const all = [...this.#slices, this.#slice()];
    const highest = (name: keyof LoopDelay) => Math.max(...all.map((slice) => slice[name]));
    return { p50: highest('p50'), p99: highest('p99'), max: highest('max') };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #turn(): void {
    this.#slices.push(this.#slice());
    if (this.#slices.length > SLICES) this.#slices.shift();
    this.#histogram.reset();
  }

  #slice(): LoopDelay {
    const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
    const { max } = this.#histogram;
    return {
      p50: seconds(this.#histogram.percentile(50)),
      p99: seconds(this.#histogram.percentile(99)),
      // An empty histogram has a highest value of 0 and a lowest that is large.
      max: seconds(max),
    };
  }
}
