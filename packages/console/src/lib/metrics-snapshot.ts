import { bucketsOf, bucketsSince, quantile } from './histogram.js';
import { type Sample, sum } from './prometheus.js';

/** The metrics of the server at one moment. The charts show the difference between two snapshots. */
export interface MetricsSnapshot {
  /** Unix ms. */
  readonly at: number;
  readonly samples: readonly Sample[];
}

/** The values of all charts at one moment. `null` means that nothing was measured. */
export interface Point {
  readonly at: number;
  /** Ids per second, by family. */
  readonly minted: Readonly<Record<string, number>>;
  /** Seconds. */
  readonly latency: { readonly p50: number | null; readonly p99: number | null };
  /** Errors per second. */
  readonly errors: { readonly client: number; readonly server: number; readonly store: number };
  readonly requests: number;
}

const FAMILIES = ['flake', 'locality', 'uuid7', 'sequence', 'key'] as const;

/** Paths that are no load of clients: probes, and the page of the console. */
const NO_LOAD: readonly (string | undefined)[] = ['/', '/healthz', '/readyz', '/metrics'];

/** True if the server restarted between two snapshots, which then cannot be compared. */
export function hasRestarted(before: MetricsSnapshot, now: MetricsSnapshot): boolean {
  const total = ({ samples }: MetricsSnapshot) => sum(samples, 'idsmith_requests_total');
  return total(now) < total(before);
}

/** Rates and latencies in the time between two snapshots. */
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
    requests: Math.max(
      0,
      rate('idsmith_requests_total', ({ path }) => !NO_LOAD.includes(path)) -
        rate('idsmith_console_requests_total'),
    ),
  };
}

/** The value of a gauge, or `undefined` if the server does not report it. */
export function gauge(
  { samples }: MetricsSnapshot,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const isMatch = (sample: Sample) =>
    sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.find(isMatch)?.value;
}
