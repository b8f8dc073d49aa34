import { bucketsOf, bucketsSince, quantile } from './histogram.js';
import { type Sample, sum } from './prometheus.js';

/** Two looks at the metrics: what lies between them is drawn. */
export interface MetricsSnapshot {
  /** Unix ms. */
  readonly at: number;
  readonly samples: readonly Sample[];
}

/** What the charts show for one moment; `null` where nothing was measured. */
export interface Point {
  readonly at: number;
  /** Ids a second, by family. */
  readonly minted: Readonly<Record<string, number>>;
  /** Seconds. */
  readonly latency: { readonly p50: number | null; readonly p99: number | null };
  /** A second. */
  readonly errors: { readonly client: number; readonly server: number; readonly store: number };
  readonly requests: number;
}

const FAMILIES = ['flake', 'locality', 'sequence', 'key'] as const;

/** Whether the server was started anew between two looks: then there is nothing to compare. */
export function hasRestarted(before: MetricsSnapshot, now: MetricsSnapshot): boolean {
  const total = ({ samples }: MetricsSnapshot) => sum(samples, 'idsmith_requests_total');
  return total(now) < total(before);
}

export function pointBetween(before: MetricsSnapshot, now: MetricsSnapshot): Point {
  const seconds = Math.max((now.at - before.at) / 1000, 0.001);
  const rate = (name: string, matches?: (labels: Sample['labels']) => boolean) =>
    Math.max(0, sum(now.samples, name, matches) - sum(before.samples, name, matches)) / seconds;
  const status = (first: string) => (labels: Sample['labels']) => labels.status?.charAt(0) === first;
  const duration = 'idsmith_store_duration_seconds';
  const buckets = bucketsSince(bucketsOf(before.samples, duration), bucketsOf(now.samples, duration));
  return {
    at: now.at,
    minted: Object.fromEntries(
      FAMILIES.map((family) => [
        family,
        rate('idsmith_ids_minted_total', (labels) => labels.family === family),
      ]),
    ),
    latency: { p50: quantile(buckets, 0.5) ?? null, p99: quantile(buckets, 0.99) ?? null },
    errors: {
      client: rate('idsmith_requests_total', status('4')),
      server: rate('idsmith_requests_total', status('5')),
      store: rate('idsmith_store_errors_total'),
    },
    requests: rate('idsmith_requests_total'),
  };
}

/** The value of a gauge, if it is there. */
export function gauge(
  { samples }: MetricsSnapshot,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const isLike = (sample: Sample) =>
    sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.find(isLike)?.value;
}
