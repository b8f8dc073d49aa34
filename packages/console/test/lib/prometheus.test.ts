import { describe, expect, it } from 'vitest';
import { Metrics } from '../../../server/src/ops/metrics.ts';
import { bucketsOf, quantile, since } from '../../src/lib/histogram.ts';
import { isAnew, pointBetween } from '../../src/lib/metrics-snapshot.ts';
import { parseMetrics, sum } from '../../src/lib/prometheus.ts';

describe('the parser of Prometheus text', () => {
  it('reads names, labels and values', () => {
    const samples = parseMetrics(
      '# HELP up Whether.\n# TYPE up gauge\nup 1\nids_total{family="flake",sequence=""} 1.5e3 1700000000\n',
    );
    expect(samples).toEqual([
      { name: 'up', labels: {}, value: 1 },
      { name: 'ids_total', labels: { family: 'flake', sequence: '' }, value: 1500 },
    ]);
  });

  it('reads what is escaped, and braces in labels', () => {
    const [sample] = parseMetrics('x{name="a\\"b\\\\c\\nd}e,f=\\"g"} +Inf');
    expect(sample).toEqual({ name: 'x', labels: { name: 'a"b\\c\nd}e,f="g' }, value: Infinity });
  });

  it('leaves out what is none', () => {
    expect(parseMetrics('\n\nhello\n{} 1\n# x 1\n')).toEqual([]);
  });

  it('reads all that the server writes', () => {
    const metrics = new Metrics();
    metrics.minted.add(5, 'sequence', 'a "b" \\ {c}');
    metrics.recordStoreDuration('allocate', 0.003);
    const samples = parseMetrics(metrics.text());
    metrics.close();
    expect(sum(samples, 'idsmith_ids_minted_total', ({ sequence }) => sequence === 'a "b" \\ {c}')).toBe(5);
    const lines = metrics.text().split('\n');
    expect(samples).toHaveLength(lines.filter((line) => line !== '' && !line.startsWith('#')).length);
  });
});

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
    expect(quantile(since(buckets, buckets), 0.5)).toBeUndefined();
  });

  it('is what came since, or all of it if the server was started anew', () => {
    expect(since([[1, 5]], [[1, 8]])).toEqual([[1, 3]]);
    expect(since([[1, 5]], [[1, 2]])).toEqual([[1, 2]]);
  });

  it('takes the operations together', () => {
    const text = 'd_bucket{op="a",le="1"} 2\nd_bucket{op="b",le="1"} 3\nd_bucket{op="a",le="+Inf"} 4\n';
    expect(bucketsOf(parseMetrics(text), 'd')).toEqual([
      [1, 5],
      [Infinity, 4],
    ]);
  });
});

describe('what lies between two looks', () => {
  const look = (at: number, text: string) => ({ at, samples: parseMetrics(text) });

  it('is rates a second', () => {
    const before = look(
      0,
      'idsmith_ids_minted_total{family="flake"} 100\nidsmith_requests_total{status="200"} 1',
    );
    const now = look(
      2000,
      'idsmith_ids_minted_total{family="flake"} 500\nidsmith_ids_minted_total{family="key"} 6\n' +
        'idsmith_requests_total{status="200"} 5\nidsmith_requests_total{status="422"} 3\n' +
        'idsmith_requests_total{status="503"} 1\nidsmith_store_errors_total{operation="allocate"} 1\n',
    );
    expect(pointBetween(before, now)).toEqual({
      at: 2000,
      minted: { flake: 200, locality: 0, sequence: 0, key: 3 },
      latency: { p50: null, p99: null },
      errors: { client: 1.5, server: 0.5, store: 0.5 },
      requests: 4,
    });
  });

  it('is nothing when the server was started anew', () => {
    const before = look(0, 'idsmith_requests_total{status="200"} 10');
    expect(isAnew(before, look(1000, 'idsmith_requests_total{status="200"} 11'))).toBe(false);
    expect(isAnew(before, look(1000, 'idsmith_requests_total{status="200"} 1'))).toBe(true);
  });
});
