import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { checkSeries, requireSeriesOptions, SERIES_NAMES, type SeriesOptions } from './options.js';
import { Series, type SeriesStore } from './series.js';

interface Opened {
  readonly series: Series;
  readonly options: SeriesOptions;
}

/** The series of one store, one object for each name. */
export class OpenSeries {
  readonly #from: SeriesStore;
  readonly #open = new Map<string, Opened>();

  constructor(from: SeriesStore) {
    this.#from = from;
  }

  /** @throws InvalidOptionError when an option is wrong, or differs from the one that the series is open with */
  get(name: string, options: SeriesOptions): Series {
    requireSeriesOptions(options);
    const plan = checkSeries(name, options);
    const open = this.#open.get(name);
    if (open === undefined || open.series.isClosed) {
      const series = new Series(plan, this.#from);
      this.#open.set(name, { series, options });
      return series;
    }
    for (const option of SERIES_NAMES as (keyof SeriesOptions)[])
      if (open.options[option] !== options[option])
        throw new InvalidOptionError(
          `series ${show(name)} is open with another ${option}: use the same options, or close it first`,
        );
    return open.series;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ series }) => series.close()));
  }
}
