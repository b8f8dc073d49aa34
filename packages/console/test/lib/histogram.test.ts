import { describe, expect, it } from 'vitest';
import { bucketsOf, bucketsSince, quantile } from '../../src/lib/histogram.ts';
import { parseMetrics } from '../../src/lib/prometheus.ts';

describe('a histogram', () => {
  const buckets = [
    [0.001, 0],
    [0.01, 50],
    [0.1, 99],
    [Infinity, 100],
  ] as const;

  it('gives quantiles within the bucket they fall into', () => {
    expect(quantile(buckets, 0.5)).toBeCloseTo(0.01);
    expect(quantile(buckets, 0.25)).toBeCloseTo(0.0055);
    expect(quantile(buckets, 0.99)).toBeCloseTo(0.1);
  });

  it('knows of what is above the last bound only that it is above', () => {
    expect(quantile(buckets, 1)).toBe(0.1);
  });

  it('has no quantile when nothing was observed', () => {
    expect(quantile([], 0.5)).toBeUndefined();
    expect(quantile(bucketsSince(buckets, buckets), 0.5)).toBeUndefined();
  });

  it('counts from the earlier snapshot, or from 0 if the server has restarted', () => {
    expect(bucketsSince([[1, 5]], [[1, 8]])).toEqual([[1, 3]]);
    expect(bucketsSince([[1, 5]], [[1, 2]])).toEqual([[1, 2]]);
  });

  it('takes the operations together', () => {
    const text = 'd_bucket{op="a",le="1"} 2\nd_bucket{op="b",le="1"} 3\nd_bucket{op="a",le="+Inf"} 4\n';
    expect(bucketsOf(parseMetrics(text), 'd')).toEqual([
      [1, 5],
      [Infinity, 4],
    ]);
  });
});
