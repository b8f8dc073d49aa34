import type { Sample } from './prometheus.js';

/** For each upper bound, ascending, the number of observations up to it. The last bound is infinite. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

/** The buckets of a histogram, added up over all its labels. */
export function bucketsOf(samples: readonly Sample[], name: string): Buckets {
  const counts = new Map<number, number>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket`) continue;
    const bound = sample.labels.le === '+Inf' ? Infinity : Number(sample.labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value);
  }
  return [...counts].sort(([a], [b]) => a - b);
}

/** The observations between two snapshots. A counter that went down means that the server restarted. */
export function bucketsSince(before: Buckets, now: Buckets): Buckets {
  const old = new Map(before);
  const hasRestarted = now.some(([bound, count]) => count < (old.get(bound) ?? 0));
  return hasRestarted ? now : now.map(([bound, count]) => [bound, count - (old.get(bound) ?? 0)]);
}

/** The value below which `share` of the observations lie, assuming an even spread within each bucket. */
export function quantile(buckets: Buckets, share: number): number | undefined {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  const rank = share * total;
  const at = buckets.findIndex(([, count]) => count >= rank);
  const [bound, count] = buckets[at] ?? [0, 0];
  const [lower, below] = at === 0 ? [0, 0] : (buckets[at - 1] as readonly [number, number]);
  // Observations above the last finite bound have no known size.
  if (bound === Infinity) return lower;
  return lower + ((rank - below) / (count - below)) * (bound - lower);
}
