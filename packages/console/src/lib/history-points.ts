import type { HistoryJson } from '../api/types.js';
import type { Point } from './metrics-snapshot.js';

// The history that the server keeps, as rates.

/** A rate at the end of each slot, per second; `null` where nothing was measured. */
export interface RatePoint {
  /** Unix ms. */
  readonly at: number;
  readonly values: Readonly<Record<string, number | null>>;
}

/** The rates of every quantity of a history. The last slot is left out: it is not over. */
export function ratesOf({ series }: HistoryJson): RatePoint[] {
  const [longest] = Object.values(series).sort((a, b) => b.values.length - a.values.length);
  if (longest === undefined) return [];
  const { end, step } = longest;
  return longest.values.slice(0, -1).map((_, i, all) => {
    const back = all.length - i;
    const values = Object.entries(series).map(([name, points]) => {
      // Quantities may have begun later, or have a gap at their end.
      const at = points.values.length - 1 - back + (end - points.end) / step;
      const value = points.values[at] ?? null;
      return [name, value === null ? null : value / step];
    });
    return { at: (end - back * step) * 1000, values: Object.fromEntries(values) };
  });
}

/** The mean rate of the last `count` slots that are over; `undefined` without any. */
export function rateNow(history: HistoryJson, name: string, count = 6): number | undefined {
  const values = ratesOf(history)
    .slice(-count)
    .map((point) => point.values[name])
    .filter((value): value is number => typeof value === 'number');
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The last value of a quantity that is no rate, such as the memory. */
export function valueNow({ series }: HistoryJson, name: string): number | undefined {
  return series[name]?.values.findLast((value) => value !== null) ?? undefined;
}

/** The points of the charts of the page Health. */
export function pointsOf(history: HistoryJson): Point[] {
  const seconds = history.series.storeSeconds;
  return ratesOf(history).map(({ at, values }) => ({
    at,
    minted: Object.fromEntries(
      ['flake', 'locality', 'uuid7', 'sequence', 'key'].map((family) => [family, values[family] ?? 0]),
    ),
    latency: {
      p50: values.storeSeconds == null ? null : values.storeSeconds * (seconds?.step ?? 1),
      p99: null,
    },
    errors: { client: values.refusals ?? 0, server: 0, store: values.storeErrors ?? 0 },
    requests: values.requests ?? 0,
  }));
}
