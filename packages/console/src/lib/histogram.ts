import type { Sample } from './prometheus.js';

/** How many observations are at most so much, for each bound in ascending order; the last bound is infinite. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

/** The buckets of a histogram, those of all its labels together. */
export function bucketsOf(samples: readonly Sample[], name: string): Buckets {
  const counts = new Map<number, number>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket`) continue;
    const bound = sample.labels.le === '+Inf' ? Infinity : Number(sample.labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value);
  }
  return [...counts].sort(([a], [b]) => a - b);
}

/** What was observed between two looks. A counter that went back has begun anew. */
export function bucketsSince(before: Buckets, now: Buckets): Buckets {
  const old = new Map(before);
  const isAnew = now.some(([bound, count]) => count < (old.get(bound) ?? 0));
  return isAnew ? now : now.map(([bound, count]) => [bound, count - (old.get(bound) ?? 0)]);
}

/** The value below which that share of the observations lies, as if they were spread evenly within a bucket. */
export function quantile(buckets: Buckets, share: number): number | undefined {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  const rank = share * total;
  const at = buckets.findIndex(([, count]) => count >= rank);
  const [bound, count] = buckets[at] ?? [0, 0];
  const [lower, below] = at === 0 ? [0, 0] : (buckets[at - 1] as readonly [number, number]);
  // Nothing is known of what is above the last finite bound but that it is above.
  if (bound === Infinity) return lower;
  return lower + ((rank - below) / (count - below)) * (bound - lower);
}
